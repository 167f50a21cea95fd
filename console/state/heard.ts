import type { FeedEvent } from "../../sdk/admin/feed.ts";
import type {
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
} from "../../sdk/types.ts";

/**
 * A received event: a message, what happened to one, or a system message. `number` counts the entries of this feed, from 1. A message that
 * grows is one event, with all of its pieces so far.
 */
export type Heard = { number: number; heardAt: number } & (
  | { kind: "message"; message: Message }
  | { kind: "system_message"; message: SystemMessage }
  | { kind: "message_edit"; message: MessageEdit }
  | { kind: "message_append"; message: MessageAppend }
  | { kind: "message_reactions_update"; message: MessageReactionsUpdate }
  | { kind: "message_delete"; message: MessageDelete }
  | { kind: "system_message_delete"; message: SystemMessageDelete }
  | { kind: "message_read"; message: MessageRead }
  | { kind: "system_message_read"; message: SystemMessageRead }
);

/**
 * The place where the connection was lost, from `lostAt` to `heardAt`. Unless the feed `isWhole`, something may be missing here; if it is,
 * what was delivered meanwhile follows.
 */
export type Break = { number: number; kind: "break"; lostAt: number; heardAt: number; isWhole: boolean };

/** What a feed shows. */
export type Entry = Heard | Break;

/** What a feed shows of an event. */
export function hear(event: FeedEvent, what: { number: number; heardAt: number }): Heard {
  if ("message" in event) return { ...what, kind: "message", message: event.message };
  if ("message_edit" in event) return { ...what, kind: "message_edit", message: event.message_edit };
  if ("message_append" in event) return { ...what, kind: "message_append", message: event.message_append };
  if ("message_reactions_update" in event)
    return { ...what, kind: "message_reactions_update", message: event.message_reactions_update };
  if ("message_delete" in event) return { ...what, kind: "message_delete", message: event.message_delete };
  if ("system_message_delete" in event)
    return { ...what, kind: "system_message_delete", message: event.system_message_delete };
  if ("system_message_read" in event)
    return { ...what, kind: "system_message_read", message: event.system_message_read };
  if ("message_read" in event) return { ...what, kind: "message_read", message: event.message_read };
  return { ...what, kind: "system_message", message: event.system_message };
}
