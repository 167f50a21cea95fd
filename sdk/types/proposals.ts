import type { MessageEnvelope, ScheduledSend, SystemMessageEnvelope } from "./sends.ts";

/** What became of a proposal. */
export type ProposalState = "waiting" | "approved" | "rejected" | "failed" | "expired";

/** What to propose: the body of either send, and why it should be sent, in at most 1,000 characters, for whoever decides. */
export type ProposalOrder = {
  /** What to send. */
  request: MessageEnvelope | SystemMessageEnvelope;

  /** Why it should be sent. */
  reason?: string;
};

/** Why a proposal was decided so, in at most 1,000 characters. */
export type ProposalDecision = {
  /** Why. */
  reason?: string;
};

/**
 * A send that was proposed, and what became of it. `request` is what waits, and `null` once it no longer does. `server_mid` is the id of
 * what was sent. It can be decided until `expires_at`.
 */
export type Proposal = {
  /** The id that it was proposed with. */
  id: string;

  /** What became of it. */
  state: ProposalState;

  /** What waits; `null` once it no longer does. */
  request: MessageEnvelope | SystemMessageEnvelope | null;

  /** Why it was proposed; `null` if that was not said. */
  reason: string | null;

  /** The key that proposed it, by id. */
  proposed_by: string;

  /** When it was proposed, in ISO 8601. */
  created_at: string;

  /** Until when it can be decided, in ISO 8601: a day after it was proposed. */
  expires_at: string;

  /** The key that approved or rejected it, by id; `null` if nobody did. */
  decided_by: string | null;

  /** When it was approved or rejected, in ISO 8601; `null` if it was not. */
  decided_at: string | null;

  /** Why it was decided so; `null` if that was not said. */
  decision_reason: string | null;

  /** The id of what was sent; `null` if nothing was. */
  server_mid: string | null;

  /** Why it could not be sent; `null` if nothing was wrong. */
  problem: ScheduledSend["problem"];
};
