import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { ListedMessage } from "../../../sdk/types.ts";
import { withPiece } from "../../../sdk/views/growth.ts";

/** A message as the page shows it, or the place of one that was taken back while the page was open. */
export type Entry = { id: string; from: string; created_at: string } & (
  | { is: "said"; message: ListedMessage }
  | { is: "taken back"; by: string }
);

/** Where older messages begin: at the cursor of a page, or before a message. */
export type Older = { cursor: string } | { before: string };

/** What is shown of a conversation, newest first. `older` is `undefined` at its beginning. */
export type Thread = { entries: readonly Entry[]; older: Older | undefined };

type MessagePage = { items: ListedMessage[]; cursor: string | null };

/** The thread of a first page. */
export function threadOf(page: MessagePage): Thread {
  return withOlder({ entries: [], older: undefined }, page);
}

/** Adds a page of older messages at the end. */
export function withOlder({ entries }: Thread, { items, cursor }: MessagePage): Thread {
  const shown = new Set(entries.map(({ id }) => id));
  const more = items.filter(({ _id }) => !shown.has(_id)).map(entryOf);
  return { entries: [...entries, ...more], older: cursor === null ? undefined : { cursor } };
}

/** Applies an event. Applying it again changes nothing, and an event about nothing that is shown returns the same thread. */
export function withEvent(thread: Thread, event: FeedEvent): Thread {
  if ("message" in event) {
    const { message } = event;
    if (thread.entries.some(({ id }) => id === message._id)) return thread;
    return { ...thread, entries: [entryOf(message), ...thread.entries] };
  }
  if ("message_edit" in event) {
    const { id, body, x, t } = event.message_edit;
    const edited_at = new Date(t * 1000).toISOString();
    return changed(thread, [id], (entry) =>
      entry.is === "said" ? { ...entry, message: { ...entry.message, body, x, edited_at } } : entry,
    );
  }
  if ("message_append" in event) {
    const piece = event.message_append;
    return changed(thread, [piece.id], (entry) =>
      entry.is === "said" ? { ...entry, message: withPiece(entry.message, piece) ?? entry.message } : entry,
    );
  }
  if ("message_delete" in event) {
    const { ids, from: by } = event.message_delete;
    return changed(thread, ids, ({ id, from, created_at }) => ({ id, from, created_at, is: "taken back", by }));
  }
  return thread;
}

/** Keeps the newest entries. The others are older messages again. */
export function withAtMost(thread: Thread, most: number): Thread {
  const last = thread.entries[most - 1];
  if (thread.entries.length <= most || last === undefined) return thread;
  return { entries: thread.entries.slice(0, most), older: { before: last.id } };
}

function entryOf(message: ListedMessage): Entry {
  const { _id: id, from, created_at } = message;
  return { id, from, created_at, is: "said", message };
}

function changed(thread: Thread, ids: readonly string[], change: (entry: Entry) => Entry): Thread {
  if (!thread.entries.some(({ id }) => ids.includes(id))) return thread;
  return { ...thread, entries: thread.entries.map((entry) => (ids.includes(entry.id) ? change(entry) : entry)) };
}
