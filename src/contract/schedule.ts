import { z } from "zod";
import { pageOf, pageQuery } from "./directory.ts";
import { problemSchema } from "./errors/problem.ts";
import { isoTime } from "./identifiers.ts";
import type { PayloadLimits } from "./limits.ts";
import { createSendMessageRequest, createSendSystemMessageRequest, isComplete } from "./messages/messages.ts";

const states = ["waiting", "sent", "failed", "cancelled"] as const;

/** A request that can be scheduled: the body of either send operation, with a complete message. */
export function createScheduledRequest(limits: PayloadLimits) {
  return z
    .union([createSendMessageRequest(limits), createSendSystemMessageRequest(limits)])
    .refine(isComplete.check, isComplete.refusal)
    .meta({
      ...isComplete.meta,
      description:
        "What to send: the body of `POST /admin/message`, without `open`, or of `POST /admin/message/system`.",
    });
}

/** A request to send later, with defaults filled in. */
export type ScheduledRequest = z.output<ReturnType<typeof createScheduledRequest>>;

/** The body of a `PUT` of a scheduled send. */
export function createPutScheduledRequest(limits: PayloadLimits) {
  return z
    .strictObject({
      send_at: z.iso
        .datetime({ offset: true })
        .transform((text) => Math.max(0, Date.parse(text)))
        .meta({
          type: "string",
          format: "date-time",
          description:
            "When to send it (ISO 8601), at most a year ahead. A time in the past means now. The clock of the database decides.",
        }),
      request: createScheduledRequest(limits),
    })
    .meta({ id: "PutScheduledRequest" });
}

/** A scheduled send, as the admin API shows it. */
export const scheduledSend = z
  .strictObject({
    id: z.string().meta({ description: "The id, chosen by the caller." }),
    send_at: isoTime.meta({ description: "When it is to be sent." }),
    state: z.enum(states).meta({
      description:
        "`waiting`: it will be sent. `sent`: it was stored, and delivered like any other. `failed`: it could not be sent when it was due; `problem` says why. `cancelled`: it was cancelled while it was waiting.",
    }),
    request: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        "What will be sent, with defaults filled in. `null` once it no longer waits: what was sent is at `server_mid`.",
    }),
    created_at: isoTime.meta({ description: "When it was scheduled first." }),
    sent_at: isoTime.nullable().meta({ description: "When it was sent, or `null`." }),
    server_mid: z.string().nullable().meta({
      description: "The id of what was sent, as recipients and reports know it, or `null`.",
    }),
    problem: problemSchema.nullable().meta({
      description: "Why it failed, as a send would have been refused at that moment, or `null`.",
    }),
  })
  .meta({ id: "ScheduledSend", description: "A send that is scheduled for a time, or was." });

/** A scheduled send, as the admin API shows it. */
export type ScheduledSendShown = z.infer<typeof scheduledSend>;

/** A page of scheduled sends. */
export const scheduledPage = pageOf(scheduledSend).meta({ id: "ScheduledSendPage" });

/** The query of the list of scheduled sends. */
export const scheduledQuery = pageQuery.extend({
  state: z.enum(states).optional().meta({ description: "Only those in this state." }),
});
