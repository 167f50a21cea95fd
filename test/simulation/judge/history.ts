import type { SessionEnd } from "../../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { type Climate, threadMsOf } from "../climate.ts";
import type { Hearing } from "../models/client.ts";
import type { Cluster } from "../models/cluster.ts";
import type { Commit, Organization } from "../models/organization.ts";

/** The codes with which connections end. */
export const endCodes = {
  normal: 1000,
  abnormal: 1006,
  internal: 1011,
  restarting: 1012,
  unauthorized: 4401,
  removed: 4403,
};

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
export type Known = {
  commits: readonly (Commit | undefined)[];
  blankedAt: ReadonlyMap<number, number>;
  keptUpTo: number;
  lostAt: number;
};

/** The kinds of events that the participants of a conversation hear. */
export const conversationKinds = new Set<string>(["message", "edit", "recall"]);

/**
 * The history of the log that a connection knows: a lost one if it heard some of it, was told of a place in it, or was
 * ended by it.
 */
export function knownBy(history: History, hearing: Hearing): Known {
  const { organization } = history;
  const { head = 0, headId, heard, ended } = hearing;
  const { commits, blankedAt, lost } = organization(hearing.org);
  const laterSignOut = commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
  for (const life of lost) {
    const isLost = ({ offset }: LogEvent) => offset > life.keptUpTo;
    const stood = head > life.keptUpTo && life.commits[head]?.event.id === headId;
    const hasHeard = heard.some(({ event }) => isLost(event) && life.commits[event.offset]?.event === event);
    const signOut = life.commits.find((commit) => commit !== undefined && endsHearing(commit.event, hearing));
    const wasEnded = ended?.code === endCodes.removed || (hearing.isStream && ended?.code === endCodes.normal);
    // The hint of a lost sign-out may still come after a later one was committed.
    const until = Math.max(
      laterSignOut?.at ?? Number.POSITIVE_INFINITY,
      signOut === undefined ? 0 : toldBy(history, signOut),
    );
    const isLater = (ended?.at ?? 0) < until;
    const wentOn = heard.some(({ event }) => isLost(event) && commits[event.offset]?.event === event);
    const wasSignedOut = wasEnded && isLater && !wentOn && signOut !== undefined && isLost(signOut.event);
    if (stood || hasHeard || wasSignedOut) return { ...life, lostAt: life.endedAt };
  }
  return { commits, blankedAt, keptUpTo: Number.POSITIVE_INFINITY, lostAt: Number.POSITIVE_INFINITY };
}

/** By when the last hint of an event has come. */
function toldBy({ climate, announcedAt }: History, { event }: Commit): number {
  return (announcedAt.get(event.id) ?? Number.NEGATIVE_INFINITY) + 1 + climate.bus.lateMs + threadMsOf(climate);
}

/** Whether an event had lost its text by a time, in the log as the connection knew it or in one that was lost meanwhile. */
export function isBlanked(
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

/** Whether something was so while a connection was joining. */
export type Taking = "throughout" | "sometimes" | "never";

/** Whether the user took part in a conversation while the connection was joining. */
export function takesPart(
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

/** Whether a forced sign-out ends the connection. */
export function endsHearing({ kind, payload }: LogEvent, { uid, issuedAt }: Hearing): boolean {
  if (kind !== "session") return false;
  const { uids, issuedBefore }: SessionEnd = JSON.parse(payload);
  return issuedAt <= issuedBefore && (uids === undefined || uids.includes(uid));
}

/** Whether a system message, or the recall of some, is for the user, who takes part in `cids` at its place. */
export function isAddressedTo({ cid, uids = [] }: LogEvent, uid: string, cids: ReadonlySet<string>): boolean {
  if (uids.length > 0) return uids.includes(uid);
  return cid === undefined || cids.has(cid);
}
