import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { maxRecoveredMs } from "../climate.ts";
import type { Hearing } from "../models/client.ts";
import { lastsAt } from "../models/organization.ts";
import { conversationKinds, endCodes, type History, isBlanked, type Known, type Taking, takesPart } from "./history.ts";
import { inboxOf, keptWhile } from "./inboxes.ts";

/** `since` gives exactly what was missed, or says that it cannot. */
export function* judgeReplay(history: History, hearing: Hearing, known: Known, head: number): Iterable<string> {
  const { since, answer, heard, ended, isStream } = hearing;
  const replayed = heard.map(({ event }) => event).filter(({ offset }) => offset <= head);
  if (since === undefined) {
    if (answer?.recovered !== undefined) yield "is told about a recovery that it did not ask for";
    if (replayed.length > 0) yield `hears ${replayed[0]?.id}, which is older than the connection`;
    return;
  }
  const { purgedUpTo, lost, blankedAt } = history.organization(hearing.org);
  const { commits } = known;
  const takings = new Map<string, Taking>();
  const takingOf = (cid: string): Taking => {
    const taking = takings.get(cid) ?? takesPart(history, hearing, known, cid);
    takings.set(cid, taking);
    return taking;
  };
  const seen = commits.find((commit) => commit?.event.id === since);
  const kept = keptWhile(hearing, inboxOf(commits, hearing.uid), history.endedAt);
  const missed = commits.slice((seen?.event.offset ?? 0) + 1, head + 1).flatMap((commit) => {
    const event = commit?.event;
    if (event === undefined) return [];
    const taking = conversationKinds.has(event.kind) ? takingOf(event.cid ?? "") : kept.get(event);
    return taking === undefined ? [] : [{ event, taking: whileItLasts(hearing, event, taking, history.endedAt) }];
  });
  const allowed = new Set(missed.filter(({ taking }) => taking !== "never").map(({ event }) => event));
  if (answer?.recovered !== true) {
    // A stream that is signed out while it is let in has an empty body; its client asks again, and is refused.
    const isEmpty = isStream && ended?.code === endCodes.normal && heard.length === 0;
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
  const given = missed.filter(({ event, taking }) => taking === "throughout" && replayed.includes(event)).length;
  if (given > history.climate.maxRecovered) yield `is given ${given} events, which is too much to recover`;
  for (const { id, offset } of replayed) {
    const wasGone = (blankedAt.get(offset) ?? Number.POSITIVE_INFINITY) < hearing.beganAt;
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

/** What the expiry of an event leaves of what must or may be given. */
function whileItLasts({ beganAt, joinedAt, ended }: Hearing, event: LogEvent, taking: Taking, endedAt: number): Taking {
  if (!lastsAt(event, beganAt)) return "never";
  return taking === "throughout" && !lastsAt(event, joinedAt ?? ended?.at ?? endedAt) ? "sometimes" : taking;
}
