import { z } from "zod";
import { problemSchema } from "../errors/problem.ts";
import { isoTime } from "../identifiers.ts";

const organizationId = z.string().meta({ description: "The organization." });

/** The body of a webhook about what a user has read. */
export const messageRead = z
  .strictObject({
    type: z.literal("message.read"),
    timestamp: isoTime.meta({ description: "When they were read." }),
    data: z.strictObject({
      organizationId,
      message_read: z.strictObject({
        ids: z.array(z.string()).meta({
          description:
            "The `_id`s of the messages of others that were read now, oldest first: those among the newest 100 that the reader had not read. Everything before them in the conversation is read, too.",
        }),
        cid: z.string().meta({ description: "The conversation." }),
        from: z.string().meta({ description: "Who has read them." }),
        t: z.int().meta({ description: "When they were read, in Unix epoch seconds." }),
      }),
    }),
  })
  .meta({ id: "MessageReadPayload" });

const scheduled = z.strictObject({
  id: z.string().meta({ description: "The id of the scheduled send." }),
  send_at: isoTime.meta({ description: "When it was to be sent." }),
  problem: problemSchema.meta({
    description: "Why it was refused, as the scheduled send shows it; without `errors` if they are too long.",
  }),
});

/** The body of a webhook about a scheduled send that was refused when it was due. */
export const scheduledFailed = z
  .strictObject({
    type: z.literal("scheduled.failed"),
    timestamp: isoTime.meta({ description: "When it was refused." }),
    data: z.strictObject({ organizationId, scheduled }),
  })
  .meta({ id: "ScheduledFailedPayload" });

/** What webhooks are told of a scheduled send that was refused, after the organization. */
export type ScheduledFailed = { scheduled: z.infer<typeof scheduled> };

const waitingProposal = z.strictObject({
  id: z.string().meta({ description: "The id of the proposal, to read and decide it." }),
  senderId: z.string().meta({ description: "The user as whom it would be sent." }),
  cid: z.string().nullable().meta({
    description: "The conversation that it would go to; `null` for a system message to users or to everyone.",
  }),
  proposed_by: z.string().meta({ description: "The key that proposed it, by id." }),
  expires_at: isoTime.meta({ description: "Until when it can be decided." }),
});

/** The body of a webhook about a proposal that waits for a decision. */
export const proposalWaiting = z
  .strictObject({
    type: z.literal("proposal.waiting"),
    timestamp: isoTime.meta({ description: "When it was proposed." }),
    data: z.strictObject({ organizationId, proposal: waitingProposal }),
  })
  .meta({ id: "ProposalWaitingPayload" });

/** What webhooks are told of a proposal that waits, after the organization. */
export type ProposalWaiting = { proposal: z.infer<typeof waitingProposal> };

/** The body of a webhook about who comes and goes. */
export const usersPresence = z
  .strictObject({
    type: z.literal("users.presence"),
    timestamp: isoTime.meta({ description: "When Herald found out." }),
    data: z.strictObject({
      organizationId,
      online: z.array(z.string()).meta({
        description: "The users who have come: they have a connection now, and had none, over all nodes and devices.",
      }),
      offline: z.array(z.string()).meta({
        description: "The users who have gone: they have had no connection for the `wait_seconds` of the webhook.",
      }),
      seq: z.int().min(1).meta({
        description:
          "The number of this post, per webhook and without holes. Posts may arrive in another order. Whoever applies all of them by `seq`, beginning with nobody at 1, has the users that are online.",
      }),
    }),
  })
  .meta({ id: "UsersPresencePayload" });

const undeliverable = z.strictObject({
  webhook: z.string().meta({ description: "The id of the webhook whose receiver did not take it." }),
  delivery: z.string().meta({ description: "The id of the delivery, to redeliver it." }),
  type: z.string().meta({ description: "What it told about, such as `message.unreached`." }),
  id: z.string().nullable().meta({
    description:
      "The `_id` of the message or system message, or the id of the scheduled send or the proposal; `null` for anything else.",
  }),
  tries: z.int().meta({ description: "How often it was tried." }),
  status: z.int().nullable().meta({ description: "The HTTP status of the last answer, or `null` if none came." }),
  error: z.string().meta({ description: "Why the last try failed." }),
});

/** The body of a webhook about a delivery to another one that has failed for good. */
export const messageUndeliverable = z
  .strictObject({
    type: z.literal("message.undeliverable"),
    timestamp: isoTime.meta({ description: "When the last try began." }),
    data: z.strictObject({ organizationId, undeliverable }),
  })
  .meta({ id: "MessageUndeliverablePayload" });

/** What webhooks are told of a delivery that has failed for good, after the organization. */
export type MessageUndeliverable = { undeliverable: z.infer<typeof undeliverable> };
