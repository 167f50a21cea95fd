import { toIso } from "../identifiers.ts";
import { exampleIds, messageExample } from "./examples.ts";

const sentAt = Date.parse(messageExample.created_at);
const waitSeconds = 10;
const lookedAt = sentAt + waitSeconds * 1_000 + 612;

/** A webhook. */
export const webhookExample = {
  id: "push",
  url: "https://push.example.org/herald",
  events: ["message.unreached" as const, "system_message.unreached" as const],
  wait_seconds: waitSeconds,
  until: "delivered" as const,
  state: "active" as const,
  created_at: toIso(sentAt - 86_400_000),
  disabled_at: null,
};

/** The secret of a webhook: 32 bytes in base64. */
export const webhookSecretExample = `whsec_${btoa("an example, and never a secret 1")}`;

const common = {
  organizationId: exampleIds.organization,
  unreached: [{ uid: exampleIds.user, reason: "offline" as const }],
  waited_seconds: waitSeconds,
  part: 1,
  parts: 1,
};

/** The body of a webhook about a message. */
export const messageUnreachedExample = {
  type: "message.unreached" as const,
  timestamp: toIso(lookedAt),
  data: { message: messageExample, ...common },
};

/** The body of a webhook about a system message. */
export const systemMessageUnreachedExample = {
  type: "system_message.unreached" as const,
  timestamp: toIso(lookedAt),
  data: {
    system_message: { _id: "deploy-17", t: messageExample.t, from: messageExample.from, x: { maintenance: true } },
    ...common,
  },
};

/** The body of a test. */
export const webhookTestExample = {
  type: "webhook.test" as const,
  timestamp: toIso(lookedAt),
  data: { organizationId: exampleIds.organization, webhook: webhookExample.id },
};

/** A delivery that will be tried again. */
export const webhookDeliveryExample = {
  id: "01a1f910-80b4-7c13-a1de-3f0b2c4d5e6f",
  state: "waiting" as const,
  created_at: toIso(lookedAt),
  tries: 1,
  next_try_at: toIso(lookedAt + 5_240),
  last_try: {
    at: toIso(lookedAt + 3),
    duration_ms: 41,
    status: 503,
    error: "the receiver answered 503",
    answer: "try again later",
  },
  request: messageUnreachedExample,
};
