import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { SystemMessageReadEvent } from "../../../src/contract/messages/inbox.ts";
import { joinIds } from "../../../src/lib/text/ids.ts";
import type { Hearing } from "../models/client.ts";
import type { Commit } from "../models/organization.ts";
import { isAddressedTo, type Taking } from "./history.ts";

/**
 * A system message that was kept for a user, by the log alone: when it came into the inbox, until when it was to be kept, and
 * when it was replaced, taken back, seen and read. Times in milliseconds, infinite for what never happened.
 */
export type Item = {
  event: LogEvent;
  senderKey: string | undefined;
  isSilent: boolean;
  sentAt: number;
  keptUntil: number;
  replacedAt: number;
  recalledAt: number;
  seenAt: number;
  readAt: number;
};

/** What was kept for a user, and the recalls that inboxes keep and that the user hears, each with what it took back of that. */
export type Inbox = { items: readonly Item[]; recalls: ReadonlyMap<LogEvent, readonly Item[]> };

const never = Number.POSITIVE_INFINITY;
const known = new WeakMap<readonly (Commit | undefined)[], { length: number; inboxes: Map<string, Inbox> }>();

/** What a log has kept for a user. */
export function inboxOf(commits: readonly (Commit | undefined)[], uid: string): Inbox {
  const { length } = commits;
  const found = known.get(commits);
  const { inboxes } = found?.length === length ? found : { inboxes: new Map<string, Inbox>() };
  known.set(commits, { length, inboxes });
  const inbox = inboxes.get(uid) ?? followInbox(commits, uid);
  inboxes.set(uid, inbox);
  return inbox;
}

function followInbox(commits: readonly (Commit | undefined)[], uid: string): Inbox {
  const cids = new Set<string>();
  const items = new Map<string, Item>();
  const newest = new Map<string, Item>();
  const recalls = new Map<LogEvent, Item[]>();
  for (const commit of commits) {
    if (commit === undefined) continue;
    const { event, told, at, change } = commit;
    if (change?.added.includes(uid) === true) cids.add(event.cid ?? "");
    if (change?.removed.includes(uid) === true) cids.delete(event.cid ?? "");
    if (told?.kind === "system" && told.kept !== undefined && isAddressedTo(event, uid, cids)) {
      const { until: keptUntil, key } = told.kept;
      const marks = { replacedAt: never, recalledAt: never, seenAt: never, readAt: never };
      const senderKey = key === undefined ? undefined : joinIds(told.sender, key);
      const item = { event, senderKey, isSilent: told.isSilent === true, sentAt: at, keptUntil, ...marks };
      items.set(event.id, item);
      if (senderKey === undefined) continue;
      const before = newest.get(senderKey);
      if (before !== undefined) before.replacedAt = at;
      newest.set(senderKey, item);
    }
    if (told?.kind === "system_recall") {
      const taken = told.ids.flatMap((id) => items.get(id) ?? []);
      if (told.until !== undefined && isAddressedTo(event, uid, cids)) recalls.set(event, taken);
      for (const item of taken) item.recalledAt = Math.min(item.recalledAt, at);
    }
    if (event.kind === "system_read" && event.uids?.includes(uid) === true) {
      const { system_message_read: read }: SystemMessageReadEvent = JSON.parse(event.payload);
      for (const item of read.ids.flatMap((id) => items.get(id) ?? [])) {
        item.seenAt = Math.min(item.seenAt, at);
        if (!read.seen) item.readAt = Math.min(item.readAt, at);
      }
    }
  }
  return { items: [...items.values()], recalls };
}

/** When an item left the inbox. */
export const goneAt = ({ event, keptUntil, replacedAt, recalledAt }: Item) =>
  Math.min(keptUntil, replacedAt, recalledAt, event.expiresAt ?? never);

/** The kept system messages, and recalls of them, that `since` must or may give a connection; never any other. */
export function keptWhile(
  { beganAt, joinedAt, ended }: Hearing,
  { items, recalls }: Inbox,
  endedAt: number,
): Map<LogEvent, Taking> {
  const until = joinedAt ?? ended?.at ?? endedAt;
  const taking = (isThere: boolean, mayBeThere: boolean): Taking =>
    isThere ? "throughout" : mayBeThere ? "sometimes" : "never";
  const kept = new Map<LogEvent, Taking>();
  // One that was recalled has no text: that is judged apart.
  for (const item of items)
    kept.set(item.event, taking(Math.min(item.keptUntil, item.replacedAt) > until, item.keptUntil > beganAt));
  // What took back only what another had replaced may be forgotten.
  for (const [event, taken] of recalls) {
    const isKept = taken.some((item) => item.keptUntil > until && item.replacedAt > item.recalledAt);
    kept.set(event, taking(isKept, true));
  }
  return kept;
}
