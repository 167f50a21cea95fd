import { keptMs } from "../../contract/webhooks/kept.ts";
import { createId } from "../../lib/text/ids.ts";
import type { DueEvent, ReportedEvent, StoredWebhook, WebhookDelivery } from "../../store/webhooks/ports.ts";
import type { Part } from "./payloads.ts";

/** A due event that still exists, and the webhook to report it to. */
export type Asked = DueEvent & { event: ReportedEvent; hook: StoredWebhook };

/** A delivery of an event, not stored yet. */
export type NewDelivery = WebhookDelivery & { eventId: string };

type NewPart = { users: Part; part: number; parts: number };

/** Creates the delivery of one part, due `now`. */
export function deliveryOf({ org, webhook, event, hook }: Asked, part: NewPart, now: number): NewDelivery {
  return {
    org,
    webhook,
    id: createId(),
    state: "waiting",
    eventId: event.id,
    part: part.part,
    parts: part.parts,
    unreached: part.users,
    waitedMs: hook.waitMs,
    createdAt: now,
    tries: 0,
    nextTryAt: now,
    lastTry: null,
    expiresAt: now + keptMs.waiting,
  };
}
