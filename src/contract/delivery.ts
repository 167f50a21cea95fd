import { z } from "zod";
import { pageOf, pageQuery, queryFlag } from "./directory.ts";
import { identifier, isoTime } from "./identifiers.ts";
import { listedMessageSchema, systemMessageSchema } from "./messages/events.ts";

const time = isoTime.nullable();
const count = z.int().min(0);

const deliveryFigures = z
  .strictObject({
    recipients: count.meta({
      description:
        "The number of users it was addressed to: the conversation's participants when it was stored, including the sender, the distinct `uids`, or all users of the organization when it was stored.",
    }),
    delivered_users: count.meta({
      description:
        "The number of recipients that it was delivered to. Each user counts once, however many nodes and devices are involved.",
    }),
    delivered_connections: count.meta({
      description:
        "The number of connections that it was written to, including clients that reconnected and recovered it.",
    }),
    acknowledged_users: count.meta({ description: "The number of users whose client acknowledged it with `ack`." }),
    first_delivered_at: time.meta({
      description: "When it was first written to a connection. `null` if it has not been delivered.",
    }),
    last_delivered_at: time.meta({
      description: "When it was last written to a connection. `null` if it has not been delivered.",
    }),
  })
  .meta({
    id: "Delivery",
    description: "The delivery of a message, on all nodes. The figures are about a second old.",
  });

/** The delivery figures of a message. */
export type DeliveryFigures = z.infer<typeof deliveryFigures>;

const fates = ["delivered", "offline", "unknown"] as const;

/** The delivery of a system message to one user. */
export type Fate = (typeof fates)[number];

const acknowledgedBeforeRecall = count.optional().meta({
  description: "How many of `acknowledged_users` acknowledged it before it was taken back. Only such messages have it.",
});

const systemDelivery = deliveryFigures
  .extend({
    acknowledged_before_recall: acknowledgedBeforeRecall,
    by_user: z.record(z.string(), z.enum(fates)).optional().meta({
      description:
        "The delivery to each of the `uids`; absent if it was sent to a conversation or to everyone. `delivered`: written to a connection of the user. `offline`: the user was not connected, and receives it only if it is kept in inboxes. `unknown`: the id was not a user of the organization when the system message was stored.",
    }),
  })
  .meta({ id: "SystemMessageDelivery", description: "The delivery of a system message, on all nodes." });

const keyId = z
  .string()
  .nullable()
  .meta({ description: "The id of the API key that sent it; `bootstrap` for the bootstrap key." });

const expiredAt = isoTime.optional().meta({
  description: "Its `expires_at`, once that has passed. One that was taken back before has `recalled_at` instead.",
});

const reportedMessage = listedMessageSchema.partial({ body: true, x: true, attachments: true }).meta({
  id: "ReportedMessage",
  description: "The message. One that was taken back or has expired has no `body`, `x` and `attachments` any more.",
});

const reportedSystemMessage = systemMessageSchema.partial({ x: true }).meta({
  id: "ReportedSystemMessage",
  description: "The system message. One that was taken back or has expired has no `x` any more.",
});

const messageDelivery = deliveryFigures
  .extend({
    acknowledged_before_edit: count.optional().meta({
      description:
        "How many of `acknowledged_users` acknowledged it before it was last edited. Only edited messages have it.",
    }),
    acknowledged_before_recall: acknowledgedBeforeRecall,
  })
  .meta({ id: "MessageDelivery", description: "The delivery of a message, on all nodes." });

/** The response to `GET …/messages/{server_mid}`. */
export const messageReport = z
  .strictObject({
    message: reportedMessage,
    recalled_at: isoTime.optional().meta({
      description: "When the message was taken back. Only such messages have it.",
    }),
    expired_at: expiredAt,
    key_id: keyId,
    delivery: messageDelivery,
  })
  .meta({ id: "MessageReport" });

/** A message and its delivery. */
export type MessageReport = z.infer<typeof messageReport>;

/** The response to `GET …/system-messages/{mid}`. */
export const systemMessageReport = z
  .strictObject({
    system_message: reportedSystemMessage,
    recalled_at: isoTime.optional().meta({
      description: "When the system message was taken back. Only such system messages have it.",
    }),
    expired_at: expiredAt,
    superseded_by: z.string().optional().meta({
      description:
        "The `mid` of the newest later system message of the sender with the same `key` that some of its recipients have instead. Absent if there is none.",
    }),
    key_id: keyId,
    delivery: systemDelivery,
  })
  .meta({ id: "SystemMessageReport" });

/** A system message and its delivery. */
export type SystemMessageReport = z.infer<typeof systemMessageReport>;

const senderId = identifier
  .optional()
  .meta({ description: "The sender. Required if several senders used the same id." });

/** The query of a system message's report. */
export const systemMessageQuery = z.strictObject({ senderId });

const recipientStates = ["delivered", "acknowledged", "missing"] as const;

/** What is known about a recipient. Each recipient has one state. */
export type RecipientState = (typeof recipientStates)[number];

const recipient = z
  .strictObject({
    uid: z.string().meta({ description: "The user." }),
    state: z.enum(recipientStates).meta({
      description:
        "`delivered`: written to a connection of the user, and not acknowledged. `acknowledged`: a client of the user has acknowledged it. `missing`: neither.",
    }),
    delivered_at: time.meta({
      description:
        "When it was first written to a connection of the user, by the node's clock; up to a second too early for a client that recovered it with `since` together with others. `null` if no delivery is known.",
    }),
    acknowledged_at: time.meta({
      description: "When the first acknowledgement arrived, by the node's clock. `null` if there is none.",
    }),
  })
  .meta({ id: "Recipient", description: "A user that a message was addressed to." });

/** A user that a message was addressed to. */
export type Recipient = z.infer<typeof recipient>;

/** A page of recipients. */
export const recipientPage = pageOf(recipient).meta({ id: "RecipientPage" });

/** The query of a message's recipients. */
export const recipientQuery = pageQuery.extend({
  state: z.enum(recipientStates).optional().meta({ description: "Only recipients in this state; by default, all." }),
});

/** The query of a system message's recipients. */
export const systemRecipientQuery = recipientQuery.extend({ senderId });

const deliveryItem = z
  .strictObject({
    kind: z.enum(["message", "system_message"]).meta({ description: "What it is." }),
    id: z.string().meta({ description: "The `server_mid` of a message, or the `mid` of a system message." }),
    cid: z.string().nullable().meta({
      description: "The conversation; `null` for a system message to users or to everyone.",
    }),
    from: z.string().meta({ description: "The user ID of the sender." }),
    t: z.int().meta({ description: "When it was sent, in Unix epoch seconds." }),
    state: recipient.shape.state,
    delivered_at: recipient.shape.delivered_at,
    acknowledged_at: recipient.shape.acknowledged_at,
    read_at: time.meta({
      description:
        "Of a message, when the user last read in the conversation, if that included this message: it was read by then. Of a system message, when the user read it in the inbox. `null` if it is not read, and if no time is known.",
    }),
  })
  .meta({ id: "DeliveryItem", description: "A message or system message that was addressed to a user." });

/** A message or system message that was addressed to a user. */
export type DeliveryItem = z.infer<typeof deliveryItem>;

/** A page of what was addressed to a user. */
export const deliveryItemPage = pageOf(deliveryItem).meta({ id: "DeliveryItemPage" });

/** The query of what was addressed to a user. */
export const deliveryItemQuery = pageQuery.extend({
  after: pageQuery.shape.cursor.meta({ description: "The same as `cursor`, by another name; give one of them." }),
  state: z.enum(recipientStates).optional().meta({
    description: "Only what the user has in this state; by default, all.",
  }),
});

/** The query of the two operations that send. */
export const sendQuery = z.strictObject({
  dry_run: queryFlag("`true` checks the request and returns whom it would reach, without storing or sending anything."),
});

/** The response to a send with `dry_run=true`. */
export const dryRunResponse = z
  .strictObject({
    dry_run: z
      .strictObject({
        recipients: count.meta({ description: "The number of users that it would be addressed to." }),
        online: count.meta({ description: "The number of these users who are connected now, on all nodes." }),
        unknown_users: z.array(z.string()).meta({
          description: "The `uids` that are not users of the organization. Empty if the send names no `uids`.",
        }),
      })
      .meta({ title: "DryRun" }),
  })
  .meta({ id: "DryRunAnswer" });

/** Whom a send would reach. */
export type DryRunResponse = z.infer<typeof dryRunResponse>;
