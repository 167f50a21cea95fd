import type { Hearing } from "../models/client.ts";
import type { Commit } from "../models/organization.ts";
import { foundAt } from "./deadlines.ts";
import { endCodes, endsHearing, type History, type Known, knownBy } from "./history.ts";
import { judgeCount, judgeWhatLeaves } from "./inbox-answers.ts";
import { judgeLive } from "./live.ts";
import { judgeReplay } from "./replays.ts";

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
  yield* judgeCount(history, hearing, head);
  yield* judgeWhatLeaves(history, hearing, known, head);
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
    (ended.code === endCodes.abnormal && (isSlowReader || isStopped || (hearing.isStream && wasTroubled))) ||
    (ended.code === endCodes.internal && (wasTroubled || isStopped || (isSetBack && hearing.joinedAt === undefined))) ||
    (ended.code === endCodes.restarting && (isStopped || isSetBack)) ||
    (ended.code === endCodes.normal && hearing.isStream && (isStopped || isSetBack || wasSignedOut)) ||
    (ended.code === endCodes.unauthorized &&
      lives.some((life) => (life.validAfter.get(hearing.uid) ?? -1) >= hearing.issuedAt)) ||
    (ended.code === endCodes.removed && wasSignedOut);
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
