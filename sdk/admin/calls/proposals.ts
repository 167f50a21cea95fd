import type { Page, PageOptions, Proposal, ProposalDecision, ProposalOrder, ProposalState } from "../../types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** Creates the calls about proposals. */
export function createProposalCalls(request: Request) {
  return {
    /**
     * Proposes a send, which another key has to approve within a day. It is checked now. The same call again changes nothing, so it is
     * safe to retry; another one with the same `id` rejects with `message_id_conflict`.
     */
    async propose(org: string, id: string, order: ProposalOrder, options: CallOptions = {}): Promise<Proposal> {
      return request("PUT", path`/admin/organizations/${org}/proposals/${id}`, order, options);
    },
    /** Reads a proposal, or what became of it. */
    async getProposal(org: string, id: string, options: CallOptions = {}): Promise<Proposal> {
      return request("GET", path`/admin/organizations/${org}/proposals/${id}`, undefined, options);
    },
    /** Lists proposals, the oldest first, those of one `state` or all. */
    async listProposals(
      org: string,
      page: PageOptions & { state?: ProposalState } = {},
      options: CallOptions = {},
    ): Promise<Page<Proposal>> {
      return request("GET", path`/admin/organizations/${org}/proposals` + query(page), undefined, options);
    },
    /**
     * Approves a proposal, which sends it, once whoever else approves it. Look at its `state`: it has `failed` if it could no longer be
     * sent. Rejects with `own_proposal` for a key that proposed it, and with `already_sent` if it was rejected or has expired.
     */
    async approveProposal(
      org: string,
      id: string,
      decision: ProposalDecision = {},
      options: CallOptions = {},
    ): Promise<Proposal> {
      const target = path`/admin/organizations/${org}/proposals/${id}/approve`;
      return request("POST", target, decision, { ...options, isSafe: true });
    },
    /** Rejects a proposal: once this resolves, it is never sent. Rejects with `already_sent` if it was. */
    async rejectProposal(
      org: string,
      id: string,
      decision: ProposalDecision = {},
      options: CallOptions = {},
    ): Promise<Proposal> {
      const target = path`/admin/organizations/${org}/proposals/${id}/reject`;
      return request("POST", target, decision, { ...options, isSafe: true });
    },
  };
}
