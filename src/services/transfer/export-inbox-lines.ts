import { toIso } from "../../contract/identifiers.ts";
import type { SystemMessageEvent } from "../../contract/messages/events.ts";
import type { ExportLine } from "../../contract/transfer/lines.ts";
import type { createRoughSet } from "../../lib/caches/rough-set.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { timeOf } from "../../lib/timed-ranges.ts";
import type { Marks } from "../../store/inbox/ports.ts";
import type {
  ExportedInboxItem,
  ExportedInboxMessage,
  ExportedSystemMessage,
  SystemMessageName,
} from "../../store/transfer/ports.ts";

/** The keys of the system messages that are contained so far. */
export type ContainedKeys = ReturnType<typeof createRoughSet>;

/**
 * The line of a system message; none for one that is over, unless other lines refer to it, or an earlier one may come back without
 * it. Those have no content.
 */
export function systemMessageLine(message: ExportedSystemMessage, keys: ContainedKeys): ExportLine[] {
  const { uids, cid, sender, key, kept } = message;
  const address = uids !== undefined ? { uids } : cid !== undefined ? { cid } : { everyone: true as const };
  const ofSender = key === undefined ? undefined : joinIds(sender, key);
  const content = kept && contentOf(kept.payload);
  if (kept !== undefined && content !== undefined) {
    if (ofSender !== undefined) keys.add(ofSender);
    return [lineOf(message, address, { ...content, until: kept.until })];
  }
  const isNeeded = uids === undefined || (ofSender !== undefined && keys.mayHave(ofSender));
  return isNeeded ? [lineOf(message, address, { x: {}, key, until: message.createdAt })] : [];
}

/** The lines of an item in the inbox of a user, without others who have it. */
export function inboxLines(item: ExportedInboxMessage, uid: string, marks: Marks): ExportLine[] {
  const content = contentOf(item.payload);
  if (content === undefined) return [];
  const address = item.cid === undefined ? { uids: [uid] } : { cid: item.cid };
  return [lineOf(item, address, { ...content, until: item.keptUntil }), ...readLines(item, uid, marks)];
}

/** The line of what a user has marked, if the user has. */
export function readLines(item: ExportedInboxItem, uid: string, { seen, read }: Marks): ExportLine[] {
  const seenAt = timeOf(seen, item.offset);
  if (seenAt === undefined) return [];
  const readAt = timeOf(read, item.offset);
  const marks = { seen_at: toIso(seenAt), read_at: readAt === undefined ? null : toIso(readAt) };
  return [{ system_message_read: { uid, ...referenceTo(item), ...marks } }];
}

/** How lines refer to a system message. */
export function referenceTo({ sender, id, createdAt }: SystemMessageName) {
  return { senderId: sender, id, created_at: toIso(createdAt) };
}

type Address = { uids: string[] } | { cid: string } | { everyone: true };
type Content = Partial<SystemMessageEvent["system_message"]> & { x: Record<string, unknown> };

function lineOf(
  { id, sender, createdAt }: SystemMessageName,
  address: Address,
  { x, key, silent, expires_at, until }: Content & { until: number },
): ExportLine {
  const times = { created_at: toIso(createdAt), kept_until: toIso(until) };
  const options = {
    ...(key !== undefined && { key }),
    ...(silent && { silent }),
    ...(expires_at !== undefined && { expires_at }),
  };
  return { system_message: { id, senderId: sender, ...address, x, ...times, ...options } };
}

/** What a stored system message says; `undefined` for one whose row is damaged. */
function contentOf(payload: string): Content | undefined {
  return objectWith(payload, "system_message")?.system_message as Content | undefined;
}
