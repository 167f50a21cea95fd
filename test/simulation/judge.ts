import type { LogEvent, SessionEnd } from "../../src/contract/log-event.ts";
import type { Hearing } from "./client.ts";
import { type Climate, headCheckMs, maxRecoveredMs } from "./climate.ts";
import type { Cluster } from "./cluster.ts";
import type { Commit, Organization } from "./database.ts";

const normalCode = 1000;
const abnormalCode = 1006;
const internalCode = 1011;
const restartingCode = 1012;
const unauthorizedCode = 4401;
const removedCode = 4403;

/** All that came to pass in a world. */
export type History = Pick<Cluster, "outages" | "heals" | "stopped"> & {
  climate: Climate;
  hearings: Hearing[];
  organization(org: string): Organization;
  /** In milliseconds. */
  endedAt: number;
};

/** What of the promises was broken, in words; nothing when all were kept. */
export function judge(history: History): string[] {
  return history.hearings.flatMap((hearing) =>
    [...judgeHearing(history, hearing)].map((broken) => `connection ${hearing.attempt}: ${broken}`),
  );
}

function* judgeHearing(history: History, hearing: Hearing): Iterable<string> {
  const { answer, head, heard, ended, unknown } = hearing;
  const { commits } = history.organization(hearing.org);
  const signOut = commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
  for (const text of unknown) yield `was told ${text}`;
  yield* judgeEnd(history, hearing, signOut);
  if (answer?.error !== undefined || answer === undefined || head === undefined) {
    if (heard.length > 0) yield "hears events, and was not let in";
    if (ended === undefined) yield "waits for ever to be let in";
    return;
  }
  for (const { event } of heard) {
    if (commits[event.offset]?.event !== event) yield `hears ${event.id}, which was never committed`;
  }
  for (const [index, { event }] of heard.entries()) {
    const before = heard[index - 1]?.event;
    if (before !== undefined && before.offset >= event.offset)
      yield `hears ${event.id} at ${event.offset} after ${before.id} at ${before.offset}`;
  }
  yield* judgeReplay(history, hearing, head);
  yield* judgeLive(history, hearing, head, signOut?.event.offset ?? Number.POSITIVE_INFINITY);
}

/** Whether it ended as it had to, and only for a reason. */
function* judgeEnd(history: History, hearing: Hearing, signOut: Commit | undefined): Iterable<string> {
  const { ended, node, isSlowReader } = hearing;
  if (ended === undefined) {
    if (signOut !== undefined) yield `stays open, though ${signOut.event.id} signed it out`;
    return;
  }
  const isStopped = history.stopped.has(node);
  const wasTroubled =
    history.climate.store.misses > 0 ||
    history.outages.some(({ from, to }) => from <= ended.at && hearing.beganAt <= to);
  const { validAfter } = history.organization(hearing.org);
  const isExpected =
    ended.byClient ||
    (ended.code === abnormalCode && (isSlowReader || isStopped || (hearing.isStream && wasTroubled))) ||
    (ended.code === internalCode && (wasTroubled || isStopped)) ||
    (ended.code === restartingCode && isStopped) ||
    (ended.code === normalCode && hearing.isStream && (isStopped || signOut !== undefined)) ||
    (ended.code === unauthorizedCode && (validAfter.get(hearing.uid) ?? -1) >= hearing.issuedAt) ||
    (ended.code === removedCode && signOut !== undefined);
  if (!isExpected) yield `ends with ${ended.code} for no reason`;
}

/** `since` gives exactly what was missed, or says that it cannot. */
function* judgeReplay(history: History, hearing: Hearing, head: number): Iterable<string> {
  const { since, answer, heard, ended, isStream } = hearing;
  const replayed = heard.map(({ event }) => event).filter(({ offset }) => offset <= head);
  if (since === undefined) {
    if (answer?.recovered !== undefined) yield "is told about a recovery that it did not ask for";
    if (replayed.length > 0) yield `hears ${replayed[0]?.id}, which is older than the connection`;
    return;
  }
  const { commits, purgedUpTo } = history.organization(hearing.org);
  const takings = new Map<string, Taking>();
  const takingOf = (cid: string): Taking => {
    const taking = takings.get(cid) ?? takesPart(history, hearing, cid);
    takings.set(cid, taking);
    return taking;
  };
  const seen = commits.find((commit) => commit?.event.id === since);
  const missed = commits
    .slice((seen?.event.offset ?? 0) + 1, head + 1)
    .flatMap((commit) => (commit?.event.kind === "message" ? [commit.event] : []))
    .map((event) => ({ event, taking: takingOf(event.cid ?? "") }));
  const allowed = new Set(missed.filter(({ taking }) => taking !== "never").map(({ event }) => event));
  if (answer?.recovered !== true) {
    // A stream that was signed out while it was let in is an empty body; its client asks again, and is refused.
    const isEmpty = isStream && ended?.code === normalCode && heard.length === 0;
    if (answer?.recovered === undefined && !isEmpty) yield "is not told whether it recovered";
    const isPossible =
      seen !== undefined &&
      seen.event.offset > purgedUpTo &&
      (hearing.answeredAt ?? 0) - seen.at <= maxRecoveredMs &&
      allowed.size <= history.climate.maxRecovered;
    if (answer?.recovered === false && isPossible) yield `is told that it cannot recover from ${since}, and could have`;
    if (replayed.length > 0) yield `hears ${replayed[0]?.id}, though it was told that it cannot recover`;
    return;
  }
  if (seen === undefined) yield `is told that it recovered from ${since}, which nobody knows`;
  for (const event of replayed) if (!allowed.has(event)) yield `is given ${event.id}, which it did not miss`;
  // A replay that broke off gives only the beginning.
  const isWhole = ended === undefined || heard.length + hearing.lost > replayed.length;
  const upTo = isWhole && hearing.lost === 0 ? head : (replayed.at(-1)?.offset ?? 0);
  for (const { event, taking } of missed) {
    if (taking === "throughout" && event.offset <= upTo && !replayed.includes(event)) yield `is not given ${event.id}`;
  }
}

/** What was committed after the snapshot is heard: all of it, nothing else, and in time. */
function* judgeLive(history: History, hearing: Hearing, head: number, before: number): Iterable<string> {
  const live = hearing.heard.filter(({ event }) => event.offset > head);
  const expected = concerning(history, hearing).filter(({ event }) => event.offset > head && event.offset < before);
  for (const [index, { event }] of live.entries()) {
    const due = expected[index]?.event;
    if (due !== event) {
      yield `hears ${event.id} at ${event.offset} where ${due === undefined ? "nothing" : `${due.id} at ${due.offset}`} is due`;
      return;
    }
  }
  const { ended, lost } = hearing;
  // A sign-out ends who is still joining at once, and who has joined in its place in the log.
  const isWhole = ended === undefined || (ended.code === removedCode && hearing.joinedAt !== undefined);
  for (const [index, commit] of expected.entries()) {
    const at = live[index]?.at;
    const due = dueAt(history, hearing, commit);
    const { id, offset } = commit.event;
    if (at === undefined && isWhole) yield `never hears ${id} at ${offset}`;
    else if (at === undefined && index >= live.length + lost && ended !== undefined && due < ended.at)
      yield `has not heard ${id} at ${offset} when it ends at ${ended.at}, due at ${due}`;
    else if (at !== undefined && at > due) yield `hears ${id} at ${at}, due at ${due}`;
  }
}

/** By when an event must have been heard, whatever hints were lost; without limit where single reads fail. */
function dueAt(
  { climate, heals, outages }: History,
  { node, joinedAt, isSlowReader }: Hearing,
  { at }: Commit,
): number {
  if (joinedAt === undefined || isSlowReader || climate.store.misses > 0) return Number.POSITIVE_INFINITY;
  const readsMs = 12 * climate.store.latencyMs + (climate.large > 0 ? 2_000 : 600);
  const heal = heals.find((one) => one.node === node && one.at >= at)?.at ?? Number.POSITIVE_INFINITY;
  let from = Math.max(at, joinedAt);
  for (;;) {
    const toldAt = climate.losesNoHint ? from + climate.announceMs + climate.bus.lateMs : from + headCheckMs;
    const due = Math.min(toldAt, heal < from ? toldAt : heal) + readsMs;
    const outage = outages.find((one) => one.from <= due && from <= one.to);
    if (outage === undefined) return due;
    from = outage.to + 1; // while the database is away nobody can know
  }
}

/** The events of the log that a connection of the user is to hear, by what the log itself says about membership. */
function concerning({ organization }: History, { org, uid }: Hearing): Commit[] {
  const cids = new Set<string>();
  const found: Commit[] = [];
  for (const commit of organization(org).commits) {
    if (commit === undefined) continue;
    const { kind, cid = "", uids } = commit.event;
    if (kind === "message" && cids.has(cid)) found.push(commit);
    if (kind === "system" && uids?.includes(uid) === true) found.push(commit);
    if (commit.change?.added.includes(uid) === true) cids.add(cid);
    if (commit.change?.removed.includes(uid) === true) cids.delete(cid);
  }
  return found;
}

type Taking = "throughout" | "sometimes" | "never";

/** Whether the user took part in a conversation while the connection was joining. */
function takesPart(
  { organization, endedAt }: History,
  { org, uid, beganAt, joinedAt, ended }: Hearing,
  cid: string,
): Taking {
  const until = joinedAt ?? ended?.at ?? endedAt;
  let isParticipant = false;
  const states = new Set<boolean>();
  for (const commit of organization(org).commits) {
    if (commit?.change === undefined || commit.event.cid !== cid || commit.at > until) continue;
    if (commit.at >= beganAt) states.add(isParticipant);
    if (commit.change.added.includes(uid)) isParticipant = true;
    if (commit.change.removed.includes(uid)) isParticipant = false;
  }
  states.add(isParticipant);
  if (states.size === 2) return "sometimes";
  return isParticipant ? "throughout" : "never";
}

function endsHearing({ kind, payload }: LogEvent, { uid, issuedAt }: Hearing): boolean {
  if (kind !== "session") return false;
  const { uids, issuedBefore }: SessionEnd = JSON.parse(payload);
  return issuedAt <= issuedBefore && (uids === undefined || uids.includes(uid));
}
