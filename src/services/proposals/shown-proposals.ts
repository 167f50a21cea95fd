import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { ProposalShown } from "../../contract/proposals.ts";
import type { Proposal, ProposalState } from "../../store/proposals/ports.ts";
import { errorOfFailure } from "../schedule/scheduled-requests.ts";

/** The state of a proposal at a time: one that waits has expired once its time is over. */
export function stateAt({ state, expiresAt }: Pick<Proposal, "state" | "expiresAt">, now: number): ProposalState {
  return state === "waiting" && expiresAt <= now ? "expired" : state;
}

/** A proposal as the admin API shows it. `now` is the time of the database's clock. */
export function showProposal(proposal: Proposal, now: number, form?: ProblemForm): ProposalShown {
  const { id, request, reason, keyId, createdAt, expiresAt, decidedBy, decisionReason, endedAt } = proposal;
  const state = stateAt(proposal, now);
  return {
    id,
    state,
    request: request === null || state === "expired" ? null : JSON.parse(request),
    reason,
    proposed_by: keyId,
    created_at: toIso(createdAt),
    expires_at: toIso(expiresAt),
    decided_by: decidedBy,
    decided_at: decidedBy === null || endedAt === null ? null : toIso(endedAt),
    decision_reason: decisionReason,
    server_mid: proposal.serverMid,
    problem: problemOf(proposal, form),
  };
}

function problemOf({ problem, tryId }: Proposal, form?: ProblemForm): ProposalShown["problem"] {
  return problem === null ? null : problemDocument(errorOfFailure(JSON.parse(problem)), tryId ?? "", form);
}
