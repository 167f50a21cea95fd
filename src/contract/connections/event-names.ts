import type { EventKind } from "../log/log-event.ts";

/** What clients call the events that they hear of the log: the one top-level key of the JSON text. */
export const eventNames = {
  message: "message",
  system: "system_message",
  edit: "message_edit",
  recall: "message_delete",
  hide: "message_delete",
  system_recall: "system_message_delete",
  read: "message_read",
  system_read: "system_message_read",
  reaction: "message_reactions_update",
  append: "message_append",
} as const satisfies Partial<Record<EventKind, string>>;

/** The name of an event that clients hear. */
export type EventName = (typeof eventNames)[keyof typeof eventNames];

/** The name of a kind; `undefined` for kinds that clients do not hear of. */
export function eventNameOf(kind: EventKind): EventName | undefined {
  const names: Partial<Record<EventKind, EventName>> = eventNames;
  return names[kind];
}
