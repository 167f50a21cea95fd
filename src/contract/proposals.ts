import { z } from "zod";
import { pageOf, pageQuery } from "./directory.ts";
import { problemSchema } from "./errors/problem.ts";
import { isoTime, text } from "./identifiers.ts";
import type { PayloadLimits } from "./limits.ts";
import { createScheduledRequest } from "./schedule.ts";

const states = ["waiting", "approved", "rejected", "failed", "expired"] as const;
const maxReasonCharacters = 1_000;

/** How long a proposal waits, in milliseconds. */
export const proposalWaitsMs = 24 * 3600 * 1000;

const reason = text(1, maxReasonCharacters).optional();

/** The body of a `PUT` of a proposal. */
export function createPutProposalRequest(limits: PayloadLimits) {
  return z
    .strictObject({
      request: createScheduledRequest(limits),
      reason: reason.meta({ description: "Why it should be sent, for whoever decides." }),
    })
    .meta({ id: "PutProposalRequest" });
}

/** The body of an approval or a rejection. */
export const decideProposalRequest = z
  .strictObject({ reason: reason.meta({ description: "Why it was decided so." }) })
  .meta({ id: "DecideProposalRequest" });

/** A proposal, as the admin API shows it. */
export const proposal = z
  .strictObject({
    id: z.string().meta({ description: "The id, chosen by the caller." }),
    state: z.enum(states).meta({
      description:
        "`waiting`: nobody has decided yet. `approved`: it was approved and sent. `rejected`: it will not be sent. `failed`: it was approved, but could not be sent; `problem` says why. `expired`: nobody decided in time.",
    }),
    request: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        "What would be sent, with defaults filled in. `null` once it no longer waits: what was sent is at `server_mid`.",
    }),
    reason: z.string().nullable().meta({ description: "Why it was proposed, or `null`." }),
    proposed_by: z.string().meta({ description: "The key that proposed it, by id." }),
    created_at: isoTime.meta({ description: "When it was proposed." }),
    expires_at: isoTime.meta({ description: "Until when it can be decided: a day after it was proposed." }),
    decided_by: z.string().nullable().meta({ description: "The key that approved or rejected it, by id, or `null`." }),
    decided_at: isoTime.nullable().meta({ description: "When it was approved or rejected, or `null`." }),
    decision_reason: z.string().nullable().meta({ description: "Why it was decided so, or `null`." }),
    server_mid: z.string().nullable().meta({
      description: "The id of what was sent, as recipients and reports know it, or `null`.",
    }),
    problem: problemSchema.nullable().meta({
      description: "Why it failed, as a send would have been refused at that moment, or `null`.",
    }),
  })
  .meta({ id: "Proposal", description: "A send that was proposed, and what became of it." });

/** A proposal, as the admin API shows it. */
export type ProposalShown = z.infer<typeof proposal>;

/** A page of proposals. */
export const proposalPage = pageOf(proposal).meta({ id: "ProposalPage" });

/** The query of the list of proposals. */
export const proposalQuery = pageQuery.extend({
  state: z.enum(states).optional().meta({ description: "Only those in this state." }),
});
