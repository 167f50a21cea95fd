import type { SessionEnd } from "../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../src/contract/log/log-event.ts";
import { type Climate, headCheckMs, maxRecoveredMs, threadMsOf } from "./climate.ts";
import type { Hearing } from "./models/client.ts";
import type { Cluster } from "./models/cluster.ts";
import type { Commit, Organization } from "./models/database.ts";

const normalCode = 1000;
const abnormalCode = 1006;
const internalCode = 1011;
const restartingCode = 1012;
const unauthorizedCode = 4401;
const removedCode = 4403;

/** Everything that happened in a world. */
export type History = Pick<Cluster, "outages" | "heals" | "stopped"> & {
  climate: Climate;
  hearings: Hearing[];
  organization(org: string): Organization;
  /** When each event was announced, by its id. */
  announcedAt: ReadonlyMap<string, number>;
  /** In milliseconds. */
  endedAt: number;
};

/**
 * The log as a connection knew it; if its end was lost at `lostAt`, events up to `keptUpTo` were not. `blankedAt`: when
 * events lost their texts.
 */
type Known = {
  commits: readonly (Commit | undefined)[];
  blankedAt: ReadonlyMap<number, number>;
  keptUpTo: number;
  lostAt: number;
};

/** The kinds of events that the participants of a conversation hear. */
const conversationKinds = new Set<string>(["message", "edit", "recall"]);

/** Describes all broken promises; empty if all were kept. */
export function judge(history: History): string[] {
  return history.hearings.flatMap((hearing) =>
    [...judgeHearing(history, hearing)].map((broken) => `connection ${hearing.attempt}: ${broken}`),
  );
}

function* judgeHearing(history: History, hearing: Hearing): Iterable<string> {
  const { answer, head, heard, ended, unknown } = hearing;
  const known = knownBy(history, hearing);
  const { commits } = known;
  const signOut = commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
  for (const text of unknown) yield `was told ${text}`;
  yield* judgeEnd(history, hearing, signOut);
  yield* judgeLoss(history, hearing, known);
  yield* judgeGhosts(history, hearing);
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
  yield* judgeReplay(history, hearing, known, head);
  yield* judgeLive(history, hearing, known, head, signOut?.event.offset ?? Number.POSITIVE_INFINITY);
}

/** Whether it ended when it had to, and only for a reason. */
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
  const { validAfter, commits, lost } = history.organization(hearing.org);
  const lives = [{ validAfter, commits }, ...lost];
  const endsIt = (commit: Commit | undefined) => commit !== undefined && endsHearing(commit.event, hearing);
  // A connection that is being let in may be signed out by the log that continued, though it was told of a place in the
  // lost one.
  const wasSignedOut =
    signOut !== undefined || (hearing.joinedAt === undefined && lives.some((life) => life.commits.some(endsIt)));
  const isSetBack = lost.some(({ endedAt }) => endedAt <= ended.at);
  const isExpected =
    ended.byClient ||
    (ended.code === abnormalCode && (isSlowReader || isStopped || (hearing.isStream && wasTroubled))) ||
    (ended.code === internalCode && (wasTroubled || isStopped || (isSetBack && hearing.joinedAt === undefined))) ||
    (ended.code === restartingCode && (isStopped || isSetBack)) ||
    (ended.code === normalCode && hearing.isStream && (isStopped || isSetBack || wasSignedOut)) ||
    (ended.code === unauthorizedCode &&
      lives.some((life) => (life.validAfter.get(hearing.uid) ?? -1) >= hearing.issuedAt)) ||
    (ended.code === removedCode && wasSignedOut);
  if (!isExpected) yield `ends with ${ended.code} for no reason`;
}

/** A connection that knows what was lost is told in time, whatever became of the log since. */
function* judgeLoss(history: History, hearing: Hearing, { keptUpTo, lostAt }: Known): Iterable<string> {
  if (lostAt === Number.POSITIVE_INFINITY) return;
  const { ended, heard } = hearing;
  const knownAt = Math.max(lostAt, ...heard.flatMap(({ event, at }) => (event.offset > keptUpTo ? [at] : [])));
  const due = foundAt(history, hearing, knownAt, lostAt);
  if (ended === undefined) yield `stays open, though what it knows was lost at ${lostAt}`;
  else if (ended.at > due) yield `is told at ${ended.at} that what it knows was lost, due at ${due}`;
}

/**
 * A joining connection must not be given what was lost, and played, before it began. A hint that was still in flight is
 * another matter: it fits everything that is left, until the log continues.
 */
function* judgeGhosts(history: History, { org, beganAt, joinedAt, heard }: Hearing): Iterable<string> {
  const { commits, lost } = history.organization(org);
  const flightMs = 1 + history.climate.bus.lateMs;
  const lives = [{ commits }, ...lost.filter(({ endedAt }) => endedAt > beganAt)];
  for (const { event, at } of heard) {
    if (joinedAt === undefined || at > joinedAt) continue;
    if ((history.announcedAt.get(event.id) ?? 0) + flightMs >= beganAt) continue;
    const isGhost = !lives.some((life) => life.commits[event.offset]?.event === event);
    if (isGhost) yield `is given ${event.id}, which was lost before it connected`;
  }
}

/** By when a node has noticed the loss: by the first hint of the log that continued, or at its head check. */
function foundAt(
  { climate, outages, organization }: History,
  { org, joinedAt }: Hearing,
  knownAt: number,
  lostAt: number,
): number {
  if (joinedAt === undefined || climate.store.misses > 0) return Number.POSITIVE_INFINITY;
  const next = organization(org).commits.find((commit) => commit !== undefined && commit.at >= lostAt);
  const isTold = climate.losesNoHint && next !== undefined;
  const toldAt = isTold ? next.at + climate.announceMs + climate.bus.lateMs : Number.POSITIVE_INFINITY;
  return afterOutages(
    outages,
    Math.max(knownAt, joinedAt),
    (from) => Math.min(from + headCheckMs, Math.max(from, toldAt)) + readsMsOf(climate),
  );
}

/** `since` gives exactly what was missed, or says that it cannot. */
function* judgeReplay(history: History, hearing: Hearing, known: Known, head: number): Iterable<string> {
  const { since, answer, heard, ended, isStream } = hearing;
  const replayed = heard.map(({ event }) => event).filter(({ offset }) => offset <= head);
  if (since === undefined) {
    if (answer?.recovered !== undefined) yield "is told about a recovery that it did not ask for";
    if (replayed.length > 0) yield `hears ${replayed[0]?.id}, which is older than the connection`;
    return;
  }
  const { purgedUpTo, lost } = history.organization(hearing.org);
  const { commits } = known;
  const takings = new Map<string, Taking>();
  const takingOf = (cid: string): Taking => {
    const taking = takings.get(cid) ?? takesPart(history, hearing, known, cid);
    takings.set(cid, taking);
    return taking;
  };
  const seen = commits.find((commit) => commit?.event.id === since);
  const missed = commits
    .slice((seen?.event.offset ?? 0) + 1, head + 1)
    .flatMap((commit) => (commit !== undefined && conversationKinds.has(commit.event.kind) ? [commit.event] : []))
    .map((event) => ({ event, taking: takingOf(event.cid ?? "") }));
  const allowed = new Set(missed.filter(({ taking }) => taking !== "never").map(({ event }) => event));
  if (answer?.recovered !== true) {
    // A stream that is signed out while it is let in has an empty body; its client asks again, and is refused.
    const isEmpty = isStream && ended?.code === normalCode && heard.length === 0;
    if (answer?.recovered === undefined && !isEmpty) yield "is not told whether it recovered";
    const isPossible =
      seen !== undefined &&
      !lost.some(({ endedAt }) => endedAt >= hearing.beganAt || endedAt === known.lostAt) &&
      seen.event.offset > purgedUpTo &&
      (hearing.answeredAt ?? 0) - seen.at <= maxRecoveredMs &&
      allowed.size <= history.climate.maxRecovered;
    if (answer?.recovered === false && isPossible) yield `is told that it cannot recover from ${since}, and could have`;
    if (replayed.length > 0) yield `hears ${replayed[0]?.id}, though it was told that it cannot recover`;
    return;
  }
  if (seen === undefined) yield `is told that it recovered from ${since}, which nobody knows`;
  for (const event of replayed) if (!allowed.has(event)) yield `is given ${event.id}, which it did not miss`;
  for (const { id, offset } of replayed) {
    const wasGone = (known.blankedAt.get(offset) ?? Number.POSITIVE_INFINITY) < hearing.beganAt;
    if (wasGone && lost.every(({ endedAt }) => endedAt < hearing.beganAt))
      yield `is given ${id}, which was gone before it connected`;
  }
  // An interrupted replay gives only the beginning.
  const isWhole = ended === undefined || heard.length + hearing.lost > replayed.length;
  const upTo = isWhole && hearing.lost === 0 ? head : (replayed.at(-1)?.offset ?? 0);
  for (const { event, taking } of missed) {
    if (taking !== "throughout" || event.offset > upTo || replayed.includes(event)) continue;
    if (!isBlanked(history, hearing, known, event, hearing.joinedAt ?? ended?.at ?? history.endedAt))
      yield `is not given ${event.id}`;
  }
}

/** Everything committed after the snapshot is heard, in time, and nothing else. */
function* judgeLive(history: History, hearing: Hearing, known: Known, head: number, before: number): Iterable<string> {
  const live = hearing.heard.filter(({ event }) => event.offset > head);
  const { purgedUpTo } = history.organization(hearing.org);
  const given = new Set(live.map(({ event }) => event));
  // What is purged while a slow reader still catches up is lost to it, as to everyone.
  const isGone = ({ event, at }: Commit) =>
    event.offset <= purgedUpTo && !given.has(event) && at <= (hearing.joinedAt ?? Number.POSITIVE_INFINITY);
  // What was taken back before it was due, or an edit that another replaced, may be left out.
  const isLeftOut = (commit: Commit) =>
    !given.has(commit.event) && isBlanked(history, hearing, known, commit.event, dueAt(history, hearing, commit));
  const expected = concerning(known, hearing).filter(
    (commit) => commit.event.offset > head && commit.event.offset < before && !isGone(commit) && !isLeftOut(commit),
  );
  for (const [index, { event }] of live.entries()) {
    const due = expected[index]?.event;
    if (due !== event) {
      yield `hears ${event.id} at ${event.offset} where ${due === undefined ? "nothing" : `${due.id} at ${due.offset}`} is due`;
      return;
    }
  }
  const { ended, lost } = hearing;
  // A sign-out ends a connection that is still joining at once, and a joined one at its place in the log.
  const isWhole = ended === undefined || (ended.code === removedCode && hearing.joinedAt !== undefined);
  for (const [index, commit] of expected.entries()) {
    const at = live[index]?.at;
    const due = dueAt(history, hearing, commit);
    const { id, offset } = commit.event;
    const isSettled = known.lostAt === Number.POSITIVE_INFINITY || (offset <= known.keptUpTo && due < known.lostAt);
    if (!isSettled) continue; // nothing can be promised about what was lost, nor about what came with it
    if (at === undefined && isWhole) yield `never hears ${id} at ${offset}`;
    else if (at === undefined && index >= live.length + lost && ended !== undefined && due < ended.at)
      yield `has not heard ${id} at ${offset} when it ends at ${ended.at}, due at ${due}`;
    else if (at !== undefined && at > due) yield `hears ${id} at ${at}, due at ${due}`;
  }
}

/** By when an event must have been heard, whatever hints were lost; unlimited if single reads fail. */
function dueAt(
  { climate, heals, outages }: History,
  { node, joinedAt, isSlowReader }: Hearing,
  { at }: Commit,
): number {
  if (joinedAt === undefined || isSlowReader || climate.store.misses > 0) return Number.POSITIVE_INFINITY;
  const readsMs = readsMsOf(climate);
  const heal = heals.find((one) => one.node === node && one.at > at)?.at ?? Number.POSITIVE_INFINITY;
  return afterOutages(outages, Math.max(at, joinedAt), (from) => {
    const toldAt = climate.losesNoHint ? from + climate.announceMs + climate.bus.lateMs : from + headCheckMs;
    return Math.min(toldAt, heal < from ? toldAt : heal) + readsMs;
  });
}

/**
 * When something is due that takes a while from a given moment. If the database is away at that time, it starts over
 * afterwards.
 */
function afterOutages(outages: History["outages"], begin: number, dueFrom: (from: number) => number): number {
  let from = begin;
  for (;;) {
    const due = dueFrom(from);
    const outage = outages.find((one) => one.from <= due && from <= one.to);
    if (outage === undefined) return due;
    from = outage.to + 1;
  }
}

function readsMsOf(climate: Climate): number {
  const { store, large } = climate;
  return 12 * store.latencyMs + (large > 0 ? 2_000 : 600) + threadMsOf(climate);
}

/**
 * The history of the log that a connection knows: a lost one if it heard some of it, was told of a place in it, or was
 * ended by it.
 */
function knownBy({ organization }: History, hearing: Hearing): Known {
  const { head = 0, headId, heard, ended } = hearing;
  const { commits, blankedAt, lost } = organization(hearing.org);
  const laterSignOut = commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
  for (const life of lost) {
    const isLost = ({ offset }: LogEvent) => offset > life.keptUpTo;
    const stood = head > life.keptUpTo && life.commits[head]?.event.id === headId;
    const hasHeard = heard.some(({ event }) => isLost(event) && life.commits[event.offset]?.event === event);
    const signOut = life.commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
    const wasEnded = ended?.code === removedCode || (hearing.isStream && ended?.code === normalCode);
    const isLater = laterSignOut === undefined || (ended?.at ?? 0) < laterSignOut.at;
    const wentOn = heard.some(({ event }) => isLost(event) && commits[event.offset]?.event === event);
    const wasSignedOut = wasEnded && isLater && !wentOn && signOut !== undefined && isLost(signOut.event);
    if (stood || hasHeard || wasSignedOut) return { ...life, lostAt: life.endedAt };
  }
  return { commits, blankedAt, keptUpTo: Number.POSITIVE_INFINITY, lostAt: Number.POSITIVE_INFINITY };
}

/** The events that a connection of the user must hear, according to the log's own membership events. */
function concerning({ commits }: Known, { uid }: Hearing): Commit[] {
  const cids = new Set<string>();
  const found: Commit[] = [];
  for (const commit of commits) {
    if (commit === undefined) continue;
    const { kind, cid = "" } = commit.event;
    if (conversationKinds.has(kind) && cids.has(cid)) found.push(commit);
    if (kind === "system" && isSystemRecipient(commit.event, uid, cids)) found.push(commit);
    if (kind === "read" && commit.event.uids?.includes(uid) === true) found.push(commit);
    if (commit.change?.added.includes(uid) === true) cids.add(cid);
    if (commit.change?.removed.includes(uid) === true) cids.delete(cid);
  }
  return found;
}

/** Whether a system message is for the user, who takes part in `cids` at its place. */
function isSystemRecipient({ cid, uids = [] }: LogEvent, uid: string, cids: ReadonlySet<string>): boolean {
  if (uids.length > 0) return uids.includes(uid);
  return cid === undefined || cids.has(cid);
}

/** Whether an event had lost its text by a time, in the log as the connection knew it or in one that was lost meanwhile. */
function isBlanked(
  { organization }: History,
  { org, beganAt }: Hearing,
  known: Known,
  { offset }: LogEvent,
  by: number,
): boolean {
  const current = organization(org); // from which a node may have read, whatever the connection knows
  const lives = current.lost.filter(({ endedAt }) => endedAt >= beganAt);
  return [known, current, ...lives].some(({ blankedAt }) => (blankedAt.get(offset) ?? Number.POSITIVE_INFINITY) <= by);
}

type Taking = "throughout" | "sometimes" | "never";

/** Whether the user took part in a conversation while the connection was joining. */
function takesPart(
  { organization, endedAt }: History,
  { org, uid, beganAt, joinedAt, ended }: Hearing,
  { commits }: Known,
  cid: string,
): Taking {
  const until = joinedAt ?? ended?.at ?? endedAt;
  let isParticipant = false;
  const states = new Set<boolean>();
  for (const { commits: lost, keptUpTo } of organization(org).lost) {
    const changes = lost.slice(keptUpTo + 1).filter((commit) => commit?.event.cid === cid && commit.at <= until);
    if (changes.some((commit) => commit?.change !== undefined)) return "sometimes"; // it may have been either at the time of the read
  }
  for (const commit of commits) {
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
