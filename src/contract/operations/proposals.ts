import { decidedProposalExample, proposalExample } from "../documents/examples.ts";
import type { Scope } from "../keys/scopes.ts";
import type { PayloadLimits } from "../limits.ts";
import {
  createPutProposalRequest,
  decideProposalRequest,
  proposal,
  proposalPage,
  proposalQuery,
} from "../proposals.ts";
import { laterSendErrors, ofLaterSend } from "./messages.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

const readScopes: [Scope, Scope] = ["message:propose", "history:read"];
const decideScopes: [Scope, Scope] = ["message:send", "system:send"];
const readNote = "A key without `history:read` sees what it has proposed itself.";
const deciding =
  "It needs a key that may send what is proposed: with the scope of that operation, and the sender among its allowed senders. The key that proposed it cannot decide, nor can any key that it made.";

const decision = {
  method: "post",
  tag: "Messages",
  scope: decideScopes,
  body: decideProposalRequest,
  isBodyOptional: true,
  bodyExample: { reason: decidedProposalExample.decision_reason },
  errors: ["organization_not_found", "not_found", "sender_forbidden", "own_proposal", "already_sent", "storage_full"],
} as const;

/** Sends that another key has to approve (api.md, section 4.6). */
export function createProposalOperations(limits: PayloadLimits) {
  return {
    putProposal: defineOperation({
      method: "put",
      path: "/admin/organizations/{org}/proposals/{pid}",
      tag: "Messages",
      scope: "message:propose",
      summary: "Propose a send",
      description:
        "Stores a message or a system message that is sent once another key approves it. It is checked now, and refused as the send would be refused. The same call again changes nothing. It waits for a day, and 1,000 of an organization can wait.",
      body: createPutProposalRequest(limits),
      bodyExample: { request: proposalExample.request, reason: proposalExample.reason },
      ...ofLaterSend,
      answers: {
        200: { description: "The key has proposed it already.", schema: proposal, example: proposalExample },
        201: { description: "Proposed.", schema: proposal, example: proposalExample },
      },
      errors: laterSendErrors,
    }),
    getProposal: defineOperation({
      method: "get",
      path: "/admin/organizations/{org}/proposals/{pid}",
      tag: "Messages",
      scope: readScopes,
      audit: "all", // it shows message content
      summary: "Read a proposal",
      description: `${readNote} What was decided or has expired is kept as long as the ids of sends (\`HERALD_RETENTION_IDS_DAYS\`).`,
      answers: { 200: { description: "The proposal.", schema: proposal, example: decidedProposalExample } },
      errors: ["organization_not_found", "not_found"],
    }),
    approveProposal: defineOperation({
      ...decision,
      path: "/admin/organizations/{org}/proposals/{pid}/approve",
      summary: "Approve a proposal, which sends it",
      description: `It is checked again and sent, once however many approve it; if it can no longer be sent, it has failed. ${deciding}`,
      answers: {
        200: {
          description: "Approved and sent, now or earlier; or it has failed, as `state` and `problem` say.",
          schema: proposal,
          example: decidedProposalExample,
        },
      },
      errors: [...decision.errors],
    }),
    rejectProposal: defineOperation({
      ...decision,
      path: "/admin/organizations/{org}/proposals/{pid}/reject",
      summary: "Reject a proposal",
      description: `It is sent or rejected, never both: 200 means that it will not be sent. ${deciding}`,
      answers: {
        200: {
          description: "Rejected, now or earlier.",
          schema: proposal,
          example: { ...decidedProposalExample, state: "rejected", server_mid: null },
        },
      },
      errors: [...decision.errors],
    }),
    listProposals: defineOperation({
      method: "get",
      path: "/admin/organizations/{org}/proposals",
      tag: "Messages",
      scope: readScopes,
      audit: "all",
      summary: "List the proposals of an organization, oldest first",
      description: `${readNote} A page may hold fewer than \`limit\`, as long requests fill it.`,
      query: proposalQuery,
      answers: pageAnswers(proposalPage, [proposalExample]),
      errors: ["organization_not_found"],
    }),
  };
}
