/** What a webhook is told about: by default the first two, who was not reached. */
export type WebhookEvent =
  | "message.unreached"
  | "system_message.unreached"
  | "message.read"
  | "scheduled.failed"
  | "proposal.waiting"
  | "message.undeliverable"
  | "users.presence";

/**
 * Where to post who was not reached, `wait_seconds` after each send (default 10), and what else `events` name. By default, `events` are
 * who was not reached by messages and system messages, and a user is reached once the event was `delivered`.
 */
export type WebhookSettings = {
  /** The address that is posted to. */
  url: string;

  /** What it is told about (default: `message.unreached` and `system_message.unreached`). */
  events?: WebhookEvent[];

  /** How long after a send it is told (default 10). */
  wait_seconds?: number;

  /** When a user counts as reached (default `delivered`). */
  until?: "delivered" | "acknowledged";
};

/** A webhook, as the server keeps it. `disabled`: its receiver answered 410, so nothing is posted until it is put again. */
export type WebhookEndpoint = Required<WebhookSettings> & {
  /** The id that the caller gave it. */
  id: string;

  /** Whether anything is posted: a receiver that answered 410 is `disabled`. */
  state: "active" | "disabled";

  /** When it was created, in ISO 8601. */
  created_at: string;

  /** Since when nothing is posted, in ISO 8601; `null` if it is. */
  disabled_at: string | null;

  /** The tries that have failed since one succeeded; `null` if the last try succeeded, or there was none. */
  failing: {
    /** When the first of them began, in ISO 8601. */
    since: string;

    /** When the last of them began, in ISO 8601. */
    at: string;

    /** The status of the last answer; `null` if there was none. */
    status: number | null;

    /** Why the last of them failed. */
    error: string;
  } | null;
};

/** What became of a delivery. `cancelled`: what it tells about was taken back or removed. */
export type WebhookDeliveryState = "waiting" | "delivered" | "failed" | "cancelled";

/** What was posted to a webhook, or will be. `request` is the body, and `null` if what it tells about is gone. */
export type WebhookDelivery = {
  /** The id, which the receiver gets as `webhook-id`. */
  id: string;

  /** What became of it. */
  state: WebhookDeliveryState;

  /** When it was created, in ISO 8601. */
  created_at: string;

  /** How often it was posted. */
  tries: number;

  /** When it is posted next, in ISO 8601; `null` if never. */
  next_try_at: string | null;

  /** How the last try ended; `null` before the first. */
  last_try: {
    /** When it began, in ISO 8601. */
    at: string;

    /** How long it took, in milliseconds. */
    duration_ms: number;

    /** The status of the answer; `null` if there was none. */
    status: number | null;

    /** Why there was no answer; `null` if there was one. */
    error: string | null;

    /** The beginning of the answer's body. */
    answer: string | null;
  } | null;

  /** The body that is posted; `null` if what it tells about is gone. */
  request: Record<string, unknown> | null;
};
