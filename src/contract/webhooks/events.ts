/** What a webhook can be told about: events that somebody has not got after a time. */
export const unreachedEvents = ["message.unreached", "system_message.unreached"] as const;

/** Events that somebody has not got after a time. */
export type UnreachedEvent = (typeof unreachedEvents)[number];

const noticeEvents = [
  "message.read",
  "scheduled.failed",
  "proposal.waiting",
  "message.undeliverable",
  "users.presence",
] as const;

/** What a webhook is told only if it asks for it. */
export type NoticeEvent = (typeof noticeEvents)[number];

/** All that a webhook can be told about. */
export const webhookEvents = [...unreachedEvents, ...noticeEvents] as const;

/** What a webhook can be told about. */
export type WebhookEvent = (typeof webhookEvents)[number];
