import type { EventKind, LogEvent } from "../../contract/log/log-event.ts";
import { type NoticeEvent, type UnreachedEvent, unreachedEvents } from "../../contract/webhooks/events.ts";
import type { Row } from "../sql/driver.ts";
import type { StoredWebhook } from "./ports.ts";

/**
 * What one webhook waits for: the kinds of events, for how long, in milliseconds, and the notices, which are posted at once. Earlier
 * versions write no notices.
 */
export type Wish = { webhook: string; kinds: EventKind[]; waitMs: number; notices?: NoticeEvent[] };

const kindOf: Record<UnreachedEvent, EventKind> = {
  "message.unreached": "message",
  "system_message.unreached": "system",
};

/** The column `webhooks` of an organization with these webhooks. */
export function wishesColumn(webhooks: readonly StoredWebhook[]): string | null {
  const on = webhooks.filter(({ disabledAt }) => disabledAt === null);
  const wishes = on.flatMap(({ ref: webhook, events, waitMs }): Wish[] => {
    const kinds = unreachedEvents.filter((event) => events.includes(event)).map((event) => kindOf[event]);
    const notices = events.filter(isNotice);
    if (kinds.length + notices.length === 0) return [];
    return [{ webhook, kinds, waitMs, ...(notices.length > 0 && { notices }) }];
  });
  return wishes.length === 0 ? null : JSON.stringify(wishes);
}

/** The wishes of that column, unless it is NULL: there are none then. */
export function readWishes(column: string): Wish[] {
  return JSON.parse(column);
}

/**
 * The rows of `webhook_due` for an event: one for each webhook that waits for its kind, and none for a silent one. A message that grows
 * is waited for from its last piece on.
 */
export function dueRows(
  wishes: readonly Wish[],
  event: Pick<LogEvent, "org" | "kind" | "id" | "isOpen"> & {
    createdAt: number;
    silent?: true | undefined;
    piece?: { of: string; isDone: boolean } | undefined;
  },
  offset: number,
): Row[] {
  const { org, createdAt, silent, isOpen, piece } = event;
  if (silent || isOpen) return [];
  const { kind, id } = piece?.isDone ? { kind: "message" as const, id: piece.of } : event;
  const waiting = wishes.filter(({ kinds }) => kinds.includes(kind));
  return waiting.map(({ webhook, waitMs }) => ({ org, offset, webhook, event_id: id, due_at: createdAt + waitMs }));
}

/** The webhooks that want such a notice. */
export function refsOf(wishes: readonly Wish[], event: NoticeEvent): string[] {
  return wishes.filter(({ notices }) => notices?.includes(event)).map(({ webhook }) => webhook);
}

/** Whether commits write the event. Presence is written by the node that follows it. */
function isNotice(event: StoredWebhook["events"][number]): event is NoticeEvent {
  return event !== "users.presence" && !unreachedEvents.some((one) => one === event);
}
