import type { KeyProof, NewSend } from "../ports.ts";
import type { Decided } from "../schedule/ports.ts";
import { createMapping, type Mapped, nullable, number, text } from "../sql/mapping.ts";

/** What became of a proposal. One that waits is expired once its time is over, whether or not that is noted. */
export type ProposalState = "waiting" | "approved" | "rejected" | "failed" | "expired";

/** The columns of proposals. Times in milliseconds since the Unix epoch, by the database's clock. */
export const proposals = createMapping({
  id: text("id"),
  state: text<ProposalState>("state"),
  kind: text<NewSend["kind"]>("kind"),
  sender: text("sender"),
  /** The request as JSON; `null` once it no longer waits: what was sent is in the log alone. */
  request: nullable(text("request")),
  /** Equal for the same request with the same reason. */
  fingerprint: text("fingerprint"),
  /** Why it was proposed. */
  reason: nullable(text("reason")),
  /** The key that proposed it. */
  keyId: text("key_id"),
  createdAt: number("created_at"),
  expiresAt: number("expires_at"),
  /** The key that approved or rejected it. */
  decidedBy: nullable(text("decided_by")),
  decisionReason: nullable(text("decision_reason")),
  /** When it was decided, or has expired. */
  endedAt: nullable(number("ended_at")),
  /** The id of what was sent, as its recipients know it. */
  serverMid: nullable(text("server_mid")),
  /** Why it failed, as JSON of a `Failure`. */
  problem: nullable(text("problem")),
  /** The id of the approval that ended it. */
  tryId: nullable(text("try_id")),
});

/** A send that was proposed. */
export type Proposal = Mapped<typeof proposals>;

/** A send to be proposed. `createdAt` is the time of the database's clock. */
export type NewProposal = Pick<
  Proposal,
  "id" | "kind" | "sender" | "fingerprint" | "reason" | "keyId" | "createdAt" | "expiresAt"
> & {
  request: string;
  /** The conversation that it goes to. */
  cid: string | undefined;
  /** How many proposals of the organization may wait. */
  mostWaiting: number;
};

/** The outcome of proposing a send. `found`: there is one with this id, which stays as it is. */
export type ProposeOutcome = { outcome: "done" | "found"; proposal: Proposal } | { outcome: "missing" | "too_many" };

/** A page of proposals, the oldest first. */
export type ProposalPage = {
  state: ProposalState | undefined;
  /** Only those that this key proposed. */
  keyId: string | undefined;
  after: { expiresAt: number; id: string } | undefined;
  limit: number;
  maxBytes: number;
};

/** Reads proposals. */
export type ProposalReads = {
  /** The time of the database's clock, and the proposal if there is one. */
  find(org: string, id: string): Promise<{ now: number; found: Proposal | undefined }>;
  /**
   * At most `limit` of those after a place, ending with the one that reaches `maxBytes`, and whether there are more; and the time of
   * the database's clock, which tells what has expired.
   */
  list(org: string, page: ProposalPage): Promise<{ now: number; items: Proposal[]; hasMore: boolean }>;
};

/** Who decides a proposal, why, and when by the database's clock. */
export type Decision = { by: string; reason: string | null; now: number };

/**
 * The proposal after it was decided, and whether a send was stored. `undefined`: it does not wait any more, as another call was
 * faster or its time is over.
 */
export type DecisionOutcome = { proposal: Proposal; isNew: boolean } | undefined;

/** Writes proposals. */
export type ProposalWrites = {
  /** Stores a proposal and counts its bytes as stored. */
  put(org: string, proposal: NewProposal, by?: KeyProof): Promise<ProposeOutcome>;
  /**
   * Sends what is proposed, in one commit with the note that it was: so it is sent once, whoever else approves. It fails if it
   * cannot be sent. Then announces the event. Rejects like an append, and then nothing has changed unless the outcome is unknown.
   */
  approve(org: string, entry: Decided, decision: Decision, by?: KeyProof): Promise<DecisionOutcome>;
  reject(org: string, id: string, decision: Decision, by?: KeyProof): Promise<DecisionOutcome>;
  /** Removes at most `limit` of those that propose to send as this sender, whatever became of them; returns their number. */
  removeSome(org: string, options: { sender: string; limit: number }): Promise<number>;
};
