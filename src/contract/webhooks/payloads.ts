import { z } from "zod";
import { isoTime } from "../identifiers.ts";
import { messageSchema, systemMessageSchema } from "../messages/events.ts";
import { messageRead, messageUndeliverable, proposalWaiting, scheduledFailed, usersPresence } from "./notices.ts";

/** When a user counts as reached. */
export const unreachedUntils = ["delivered", "acknowledged"] as const;

/** When a user counts as reached. */
export type UnreachedUntil = (typeof unreachedUntils)[number];

/** The body of a webhook is smaller than this, in bytes. */
export const mostPayloadBytes = 20_000;

const unreached = z
  .strictObject({
    uid: z.string().meta({ description: "The user." }),
    reason: z.enum(["offline", "unacknowledged"]).meta({
      description:
        "`offline`: no connection of the user got it. `unacknowledged`: one did, and has not acknowledged it; if the webhook waits until `delivered`, all that did were inactive (`activity_status`).",
    }),
  })
  .meta({ id: "Unreached", description: "A recipient who was not reached." });

/** A recipient who was not reached. */
export type Unreached = z.infer<typeof unreached>;

const common = {
  organizationId: z.string().meta({ description: "The organization." }),
  unreached: z.array(unreached).meta({ description: "Who was not reached: of several parts, the users of this one." }),
  waited_seconds: z.int().min(0).meta({ description: "How long Herald waited: the `wait_seconds` of the webhook." }),
  part: z.int().min(1).meta({ description: "The number of this part." }),
  parts: z.int().min(1).meta({
    description:
      "The number of parts, or slightly more if users were reached or deleted meanwhile. Each is posted, retried and signed on its own.",
  }),
  truncated: z.literal(true).optional().meta({
    description:
      "Present if the event is too long to be posted whole: `body` is cut, or if that is not enough, `x` and `attachments` are empty.",
  }),
};

const timestamp = isoTime.meta({ description: "When Herald found out who was not reached." });

/** The body of a webhook about a message. */
export const messageUnreached = z
  .strictObject({
    type: z.literal("message.unreached"),
    timestamp,
    data: z.strictObject({ message: messageSchema, ...common }),
  })
  .meta({ id: "MessageUnreachedPayload" });

/** The body of a webhook about a system message. */
export const systemMessageUnreached = z
  .strictObject({
    type: z.literal("system_message.unreached"),
    timestamp,
    data: z.strictObject({ system_message: systemMessageSchema, ...common }),
  })
  .meta({ id: "SystemMessageUnreachedPayload" });

/** The body of a test. */
export const webhookTest = z
  .strictObject({
    type: z.literal("webhook.test"),
    timestamp: isoTime.meta({ description: "When the test was asked for." }),
    data: z.strictObject({
      organizationId: common.organizationId,
      webhook: z.string().meta({ description: "The webhook." }),
    }),
  })
  .meta({
    id: "WebhookTestPayload",
    description: "Says nothing: it shows that the receiver can be reached and verifies the signature.",
  });

const payloads = [
  messageUnreached,
  systemMessageUnreached,
  messageRead,
  scheduledFailed,
  proposalWaiting,
  messageUndeliverable,
  usersPresence,
  webhookTest,
] as const;
const nameOf = (payload: (typeof payloads)[number]) => `#/components/schemas/${payload.meta()?.id}`;

/** What is posted to a webhook. */
export const webhookPayload = z.discriminatedUnion("type", payloads).meta({
  id: "WebhookPayload",
  description: "What is posted to a webhook.",
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(payloads.map((payload) => [payload.shape.type.value, nameOf(payload)])),
  },
});

/** What is posted to a webhook. */
export type WebhookPayload = z.infer<typeof webhookPayload>;
