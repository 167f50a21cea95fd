/** What a webhook is told about. */
export type UnreachedEvent = "message.unreached" | "system_message.unreached";

/**
 * Where to post who was not reached, `wait_seconds` after each send (default 10). By default, `events` are all, and a user is reached
 * once the event was `delivered`.
 */
export type WebhookSettings = {
  url: string;
  events?: UnreachedEvent[];
  wait_seconds?: number;
  until?: "delivered" | "acknowledged";
};

/** A webhook, as the server keeps it. `disabled`: its receiver answered 410, so nothing is posted until it is put again. */
export type WebhookEndpoint = Required<WebhookSettings> & {
  id: string;
  state: "active" | "disabled";
  created_at: string;
  disabled_at: string | null;
};

/** What became of a delivery. `cancelled`: what it tells about was taken back or removed. */
export type WebhookDeliveryState = "waiting" | "delivered" | "failed" | "cancelled";

/** What was posted to a webhook, or will be. `request` is the body, and `null` if what it tells about is gone. */
export type WebhookDelivery = {
  id: string;
  state: WebhookDeliveryState;
  created_at: string;
  tries: number;
  next_try_at: string | null;
  last_try: {
    at: string;
    duration_ms: number;
    status: number | null;
    error: string | null;
    answer: string | null;
  } | null;
  request: Record<string, unknown> | null;
};
