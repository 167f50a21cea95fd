import { mostPayloadBytes } from "../../../src/contract/webhooks/payloads.ts";
import type { PresencePart } from "../../../src/store/presence/ports.ts";
import { type Fold, foldPresence } from "../../harness/reading/presence-fold.ts";
import { longestTroubleMs, type PresenceClimate } from "./climate.ts";
import type { Stay } from "./device.ts";
import type { Period } from "./fleet.ts";
import type { Post } from "./receiver.ts";

/** A part that was committed for a webhook, and when. */
export type Told = PresencePart & { seq: number; at: number };

/** A webhook that is told who comes and goes in an organization, and how long it waits. */
export type Hook = {
  org: string;
  ref: string;
  url: string;
  waitMs: number;
  /** When it was put, in milliseconds. */
  since: number;
};

type Account = {
  climate: PresenceClimate;
  hook: Hook;
  told: readonly Told[];
  posts: readonly Post[];
  stays: readonly Stay[];
  /** When a node was frozen. */
  freezes: readonly Period[];
  /** Who is online in the end: by the connections, by what `GET …/online` says, and by what the database holds. */
  present: readonly string[];
  online: readonly string[];
  stored: readonly string[];
  endedAt: number;
};

/** Describes all broken promises; empty if all were kept. */
export function* judgePresence(account: Account): Iterable<string> {
  const { hook, told, posts, present, online, stored } = account;
  if (online.join() !== present.join()) yield `${hook.org} lists ${brief(online)} as online, not ${brief(present)}`;
  for (const { bytes } of posts) if (bytes > mostPayloadBytes) yield `a post has ${bytes} bytes`;
  for (const [index, { seq }] of told.entries())
    if (seq !== index + 1) yield `part ${index + 1} of ${hook.ref} has the number ${seq}`;
  const fold = foldOf(posts);
  if (typeof fold === "string") return yield `${hook.ref}: ${fold}`;
  const parts = posts.length === 0 ? 0 : fold.parts;
  if (parts !== told.length) yield `${hook.ref} is told ${parts} of ${told.length} parts`;
  if (fold.online.join() !== present.join())
    yield `${hook.ref} takes ${brief(fold.online)} to be online, not ${brief(present)}`;
  if (stored.join() !== present.join()) yield `${hook.ref} is noted to have been told of ${brief(stored)}`;
  yield* judgeEarly(account);
  if (account.climate.isCalm && !account.climate.isSwitched) yield* judgeLate(account);
}

function foldOf(posts: readonly Post[]): Fold | string {
  try {
    return foldPresence(posts) ?? "a part is missing";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Nobody goes while connected, nor before the wait is over. */
function* judgeEarly({ climate, hook, told, stays, freezes }: Account): Iterable<string> {
  const longestLookMs = lookMs(climate) + (climate.isCalm ? 0 : 2_500); // two questions without an answer
  const slackAt = (at: number) => {
    const isLong = freezes.some(({ from, to }) => from <= at && to >= at - hook.waitMs - longestLookMs);
    return longestLookMs + (isLong ? 2 * longestTroubleMs : 0);
  };
  const cameAt = new Map<string, number>();
  for (const { online, offline, at } of told) {
    for (const uid of online) cameAt.set(uid, at);
    for (const uid of offline) {
      const came = cameAt.get(uid) ?? at;
      const isHeld = (stay: Stay) =>
        stay.org === hook.org &&
        stay.uid === uid &&
        stay.from <= came &&
        healthyTo(stay) > at - hook.waitMs + slackAt(at);
      if (stays.some(isHeld)) yield `${hook.ref}: ${brief([uid])} goes at ${at}, too early`;
    }
  }
}

/** Whoever has come or gone for long enough is told of by then. */
function* judgeLate({ climate, hook, told, stays, endedAt }: Account): Iterable<string> {
  const promptMs = 3_000 + 20 * lookMs(climate);
  const isOnlineAt = (uid: string, time: number) =>
    told
      .findLast(({ online, offline, at }) => at <= time && [...online, ...offline].includes(uid))
      ?.online.includes(uid);
  const own = stays.filter(({ org }) => org === hook.org);
  for (const [uid, ofUser] of Map.groupBy(own, (stay) => stay.uid)) {
    for (const { from, to } of ofUser) {
      const comesBy = Math.max(from, hook.since) + promptMs;
      if (comesBy < Math.min(to, endedAt) && isOnlineAt(uid, comesBy) !== true)
        yield `${hook.ref}: ${brief([uid])} came at ${from}, and is not told of by ${comesBy}`;
      const goesBy = to + hook.waitMs + promptMs;
      const isBack = ofUser.some((other) => other.from <= goesBy && other.to > to);
      if (goesBy < endedAt && !isBack && isOnlineAt(uid, goesBy) === true)
        yield `${hook.ref}: ${brief([uid])} went at ${to}, and is not told of by ${goesBy}`;
    }
  }
}

/** How long a node looks at who is online at most, while all is well. */
function lookMs({ latencyMs, commitMs }: PresenceClimate): number {
  return 20 * latencyMs + 4 * commitMs + 5;
}

function healthyTo({ node, to }: Stay): number {
  return Math.min(to, node.healthyUntil);
}

function brief(uids: readonly string[]): string {
  return `[${uids.map((uid) => uid.replace(/-.*/, "")).join()}]`;
}
