import { toIso } from "../identifiers.ts";
import { exampleIds, messageExample, proposalExample } from "./examples.ts";

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
  failing: null,
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

/** The body of a webhook about what a user has read. */
export const messageReadExample = {
  type: "message.read" as const,
  timestamp: toIso(lookedAt),
  data: {
    organizationId: exampleIds.organization,
    message_read: {
      ids: [messageExample._id],
      cid: messageExample.cid,
      from: exampleIds.user,
      t: Math.floor(lookedAt / 1000),
    },
  },
};

/** The body of a webhook about a scheduled send that was refused when it was due. */
export const scheduledFailedExample = {
  type: "scheduled.failed" as const,
  timestamp: toIso(lookedAt),
  data: {
    organizationId: exampleIds.organization,
    scheduled: {
      id: "reminder-17",
      send_at: toIso(lookedAt - 240),
      problem: {
        type: "/docs/errors#sender_not_participant",
        title: "Sender is not a participant",
        status: 403,
        detail: "The sender takes no part in the conversation.",
        code: "sender_not_participant" as const,
        request_id: "01a1f910-7f2a-7b20-8c31-9a0b1c2d3e4f",
      },
    },
  },
};

/** The body of a webhook about a proposal that waits for a decision. */
export const proposalWaitingExample = {
  type: "proposal.waiting" as const,
  timestamp: proposalExample.created_at,
  data: {
    organizationId: exampleIds.organization,
    proposal: {
      id: proposalExample.id,
      senderId: proposalExample.request.senderId,
      cid: proposalExample.request.message.cid,
      proposed_by: proposalExample.proposed_by,
      expires_at: proposalExample.expires_at,
    },
  },
};

/** The body of a webhook about a delivery to another one that has failed for good. */
export const messageUndeliverableExample = {
  type: "message.undeliverable" as const,
  timestamp: toIso(lookedAt),
  data: {
    organizationId: exampleIds.organization,
    undeliverable: {
      webhook: webhookExample.id,
      delivery: "01a1f910-80b4-7c13-a1de-3f0b2c4d5e6f",
      type: "message.unreached",
      id: messageExample._id,
      tries: 10,
      status: 503,
      error: "the receiver answered 503",
    },
  },
};

/** The body of a webhook about who comes and goes. */
export const usersPresenceExample = {
  type: "users.presence" as const,
  timestamp: toIso(lookedAt),
  data: { organizationId: exampleIds.organization, online: [exampleIds.user], offline: [messageExample.from], seq: 17 },
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
