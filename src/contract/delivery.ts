import { z } from "zod";
import { identifier } from "./identifiers.ts";
import { messageSchema, systemMessageSchema } from "./messages/events.ts";

/**
 * What is stored together of deliveries, and of receipts, lies in so many offsets of their log. What reads them looks no further,
 * so it may grow and must never shrink. Receipts come one by one, so that many lie within a span.
 */
export const spans = { delivery: 1024, receipt: 64 } as const;

/** For how long after it was made an audience may be named by deliveries, in milliseconds. */
export const audienceLivesMs = 6 * 3600 * 1000;

const time = z.iso.datetime({ precision: 3 }).nullable();
const count = z.int().min(0);

const figures = {
  recipients: count.meta({
    description:
      "Users it was addressed to: the participants of the conversation when it was stored, the sender among them; or the distinct `uids`.",
  }),
  delivered_users: count.meta({
    description: "Of these, users it was written to a connection of; each once, on however many nodes and devices.",
  }),
  delivered_connections: count.meta({
    description: "Connections it was written to, also of those that came back and were given what they had missed.",
  }),
  acknowledged_users: count.meta({ description: "Users whose client has acknowledged it with `ack`." }),
  first_delivered_at: time.meta({ description: "When it was first written to a connection; `null`: not yet." }),
  last_delivered_at: time.meta({ description: "When it was last." }),
};

const deliveryFigures = z.strictObject(figures).meta({
  id: "Delivery",
  description: "What became of a message, on all nodes, up to about a second ago.",
});

/** What became of a message. */
export type DeliveryFigures = z.infer<typeof deliveryFigures>;

const fates = ["delivered", "offline", "unknown"] as const;

/** What became of a system message for one user. */
export type Fate = (typeof fates)[number];

const systemDelivery = deliveryFigures
  .extend({
    by_user: z.record(z.string(), z.enum(fates)).meta({
      description:
        "For each of its `uids`: `delivered`; `offline`: was not connected when it was played, and will not get it any more; `unknown`: was no user of the organization when it was stored.",
    }),
  })
  .meta({ id: "SystemMessageDelivery", description: "What became of a system message, on all nodes." });

const keyId = z
  .string()
  .nullable()
  .meta({ description: "The API key it was sent with; `bootstrap` for that of the settings." });

/** The answer to `GET …/messages/{server_mid}`. */
export const messageReport = z
  .strictObject({ message: messageSchema, key_id: keyId, delivery: deliveryFigures })
  .meta({ id: "MessageReport" });

/** A message and what became of it. */
export type MessageReport = z.infer<typeof messageReport>;

/** The answer to `GET …/system-messages/{mid}`. */
export const systemMessageReport = z
  .strictObject({ system_message: systemMessageSchema, key_id: keyId, delivery: systemDelivery })
  .meta({ id: "SystemMessageReport" });

/** A system message and what became of it. */
export type SystemMessageReport = z.infer<typeof systemMessageReport>;

/** The query of a system message's report. */
export const systemMessageQuery = z.strictObject({
  senderId: identifier.optional().meta({ description: "The sender. Needed where several senders have used that id." }),
});

/** The query of the two operations that send. */
export const sendQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"], "must be true or false")
    .default("false")
    .transform((value) => value === "true")
    .meta({
      type: "boolean",
      enum: undefined,
      description:
        "`true`: checks the request as if it were sent, and says whom it would reach; nothing is stored or sent.",
    }),
});

/** The answer to a send with `dry_run=true`. */
export const dryRunResponse = z
  .strictObject({
    dry_run: z.strictObject({
      recipients: count.meta({ description: "Users it would be addressed to." }),
      online: count.meta({ description: "Of these, users who are connected now, on all nodes." }),
      unknown_users: z
        .array(z.string())
        .meta({ description: "Those of `uids` that are no users of the organization; always empty for a message." }),
    }),
  })
  .meta({ id: "DryRunResponse" });

/** Whom a send would reach. */
export type DryRunResponse = z.infer<typeof dryRunResponse>;
