import type { Run } from "../../harness/clients/memory.ts";

/** What was wrong with what connections heard. Herald promises all zeros. */
export type Verdict = {
  /** Messages that a connection should have heard and did not. */
  lost: number;
  /** Messages that one connection heard more than once. */
  doubled: number;
  /** Messages that came after one that follows them in the store. */
  misordered: number;
  /** Messages that were heard but are not stored; also those heard after one that the database has lost. */
  unstored: number;
  /** How often the server said `recovered: false` although it knew the message. */
  gapsAdmitted: number;
  /**
   * Connections that had heard what the database then lost, and were not closed with 1012 or not told `recovered:
   * false`.
   */
  untold: number;
  /** Messages heard on a connection that was made after the database had lost them. */
  ghosts: number;
};

export const flawless: Verdict = {
  lost: 0,
  doubled: 0,
  misordered: 0,
  unstored: 0,
  gapsAdmitted: 0,
  untold: 0,
  ghosts: 0,
};

/** The content of the database until another server took over, or the same one was rolled back. */
export type Past = {
  /** `_id` of every message, in order. */
  messages: string[];
  /** When the next one came into service, in milliseconds since the Unix epoch. */
  endedAt: number;
};

/** What is stored, and what was. */
export type Chronicle = {
  readonly messages: readonly string[];
  readonly positions: ReadonlyMap<string, number>;
  /** The past with which a message was lost: it was stored there, and not in the next one. */
  lostWith(id: string): LostPast | undefined;
};

/** `kept` is the number of messages, from the first on, that the next one still had. */
type LostPast = Past & { kept: number; positions: ReadonlyMap<string, number> };

/** Creates a chronicle from the messages of the store and its pasts in order. */
export function createChronicle(messages: readonly string[], pasts: readonly Past[] = []): Chronicle {
  const index = (ids: readonly string[]) => new Map(ids.map((id, position) => [id, position]));
  const lost = new Map<string, LostPast>();
  for (const [age, past] of pasts.entries()) {
    const next = pasts[age + 1]?.messages ?? messages;
    const difference = past.messages.findIndex((id, position) => id !== next[position]);
    const kept = difference < 0 ? past.messages.length : difference;
    const entry = { ...past, kept, positions: index(past.messages) };
    for (const id of past.messages.slice(kept)) lost.set(id, entry);
  }
  return { messages, positions: index(messages), lostWith: (id) => lost.get(id) };
}

/** Adds two verdicts. */
export function add(left: Verdict, right: Verdict): Verdict {
  return {
    lost: left.lost + right.lost,
    doubled: left.doubled + right.doubled,
    misordered: left.misordered + right.misordered,
    unstored: left.unstored + right.unstored,
    gapsAdmitted: left.gapsAdmitted + right.gapsAdmitted,
    untold: left.untold + right.untold,
    ghosts: left.ghosts + right.ghosts,
  };
}

/**
 * Compares what one client heard on its connections with the order of the store: each connection must have heard a run
 * of it without gaps, and each run must begin no later than where the previous one ended, or where what the client then
 * read page by page ends. A connection that heard what the database lost must have heard a run of that past, and
 * nothing after it. With `reachesEnd`, the last run must reach the end of the store.
 */
export function judge(runs: readonly Run[], chronicle: Chronicle, reachesEnd: boolean): Verdict {
  const verdict = { ...flawless };
  let heardUpTo: number | undefined; // over all connections
  let heardOf: LostPast | undefined; // the past that position belongs to
  const read = new Set<string>(); // page by page
  const leavePast = () => {
    if (heardOf !== undefined && heardUpTo !== undefined) heardUpTo = Math.min(heardUpTo, heardOf.kept - 1);
    heardOf = undefined;
  };
  for (const run of runs) {
    const past = run.ids.map(chronicle.lostWith).find((one) => one !== undefined);
    if (past !== heardOf && run.ids.length + run.paged.length > 0) leavePast();
    const positions = past?.positions ?? chronicle.positions;
    const onThisConnection = new Set<string>();
    for (const id of run.paged) read.add(id);
    let last = afterPaging(read, chronicle, heardUpTo);
    if (last !== undefined) heardUpTo = last;
    for (const id of run.ids) {
      const position = positions.get(id);
      if (position === undefined) verdict.unstored += 1;
      else if (onThisConnection.has(id)) verdict.doubled += 1;
      else if (last !== undefined && onThisConnection.size > 0 && position < last) verdict.misordered += 1;
      else {
        if (last !== undefined && position > last + 1) verdict.lost += position - last - 1;
        last = position;
      }
      onThisConnection.add(id);
    }
    if (last !== undefined) heardUpTo = Math.max(last, heardUpTo ?? last);
    heardOf ??= past;
    if (past !== undefined && run.closeCode !== undefined && run.closeCode !== 1012) verdict.untold += 1;
    if (past !== undefined && isAfter(run, past))
      verdict.ghosts += run.ids.filter((id) => chronicle.lostWith(id) !== undefined).length;
    const pastOfSince = run.since === undefined ? undefined : chronicle.lostWith(run.since);
    if (pastOfSince === undefined && run.recovered === false) verdict.gapsAdmitted += 1;
    // A stream that ends before it has begun says nothing, neither this nor messages.
    const saysAnything = run.recovered !== undefined || run.ids.length > 0;
    if (pastOfSince !== undefined && isAfter(run, pastOfSince) && saysAnything && run.recovered !== false)
      verdict.untold += 1;
  }
  leavePast();
  if (reachesEnd) verdict.lost += chronicle.messages.length - 1 - (heardUpTo ?? -1);
  return verdict;
}

function isAfter({ joinedAt }: Run, { endedAt }: Past): boolean {
  return joinedAt !== undefined && joinedAt > endedAt;
}

/** The position of a client that has heard up to a position and read these messages. */
function afterPaging(
  read: ReadonlySet<string>,
  { messages }: Chronicle,
  heardUpTo: number | undefined,
): number | undefined {
  if (heardUpTo === undefined) return undefined;
  let position = heardUpTo;
  for (let next = messages[position + 1]; next !== undefined && read.has(next); next = messages[position + 1])
    position += 1;
  return position;
}
