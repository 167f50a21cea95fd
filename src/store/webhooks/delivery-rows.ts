import type { Row } from "../sql/driver.ts";
import type { WebhookDelivery, WebhookDeliveryState } from "./ports.ts";

/** A row of the table `webhook_delivery`. */
export type DeliveryRow = Row & {
  org: string;
  webhook: string;
  id: string;
  state: WebhookDeliveryState;
  event_id: string | null;
  part: number;
  parts: number;
  unreached: string;
  waited_ms: number;
  created_at: number;
  tries: number;
  next_try_at: number | null;
  last_try: string | null;
  expires_at: number;
};

/** The columns of a `DeliveryRow`. */
export const deliveryColumns =
  "org, webhook, id, state, event_id, part, parts, unreached, waited_ms, created_at, tries, next_try_at, last_try, expires_at";

/** The delivery of a row. */
export function toDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    org: row.org,
    webhook: row.webhook,
    id: row.id,
    state: row.state,
    eventId: row.event_id,
    part: Number(row.part),
    parts: Number(row.parts),
    unreached: row.unreached,
    waitedMs: Number(row.waited_ms),
    createdAt: Number(row.created_at),
    tries: Number(row.tries),
    nextTryAt: row.next_try_at === null ? null : Number(row.next_try_at),
    lastTry: row.last_try === null ? null : JSON.parse(row.last_try),
    expiresAt: Number(row.expires_at),
  };
}

/** The row of a delivery. */
export function toDeliveryRow(delivery: WebhookDelivery): DeliveryRow {
  return {
    org: delivery.org,
    webhook: delivery.webhook,
    id: delivery.id,
    event_id: delivery.eventId,
    part: delivery.part,
    parts: delivery.parts,
    unreached: delivery.unreached,
    waited_ms: delivery.waitedMs,
    created_at: delivery.createdAt,
    ...toTriedRow(delivery),
  };
}

/** The columns of a delivery that a try changes. */
export function toTriedRow({
  state,
  tries,
  nextTryAt,
  lastTry,
  expiresAt,
}: Pick<WebhookDelivery, "state" | "tries" | "nextTryAt" | "lastTry" | "expiresAt">) {
  return {
    state,
    tries,
    next_try_at: nextTryAt,
    last_try: lastTry === null ? null : JSON.stringify(lastTry),
    expires_at: expiresAt,
  };
}
