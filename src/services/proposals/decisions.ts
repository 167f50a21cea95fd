import type { AuditTarget } from "../../contract/audit.ts";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { errorAbout, quoted } from "../../contract/errors/naming.ts";
import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { ProposalShown } from "../../contract/proposals.ts";
import type { ScheduledRequest } from "../../contract/schedule.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type {
  Decision,
  DecisionOutcome,
  Proposal,
  ProposalState,
  ProposalWrites,
} from "../../store/proposals/ports.ts";
import type { Decided } from "../../store/schedule/ports.ts";
import { holderOf } from "../keys/holders.ts";
import { type Caller, permitOrganization, permitScope, permitSender, proofOf } from "../keys/permissions.ts";
import type { OrganizationUse, TellStored } from "../limits/organization-use.ts";
import { failureOfRequest, toSend } from "../schedule/scheduled-requests.ts";
import { showProposal, stateAt } from "./shown-proposals.ts";

/** The organization of a proposal, and its id. */
export type ProposalPlace = { org: string; id: string };

/** A decided proposal, and what the audit log says of it. */
type DecidedProposal = { shown: ProposalShown; target: AuditTarget };

type Dependencies = {
  proposals: Pick<ProposalWrites, "approve" | "reject">;
  keys: Pick<KeyReads, "get" | "isMadeBy">;
  use: Pick<OrganizationUse, "know" | "admitSend">;
  readRequest(stored: string): ScheduledRequest;
  /** The clock that keys expire by. */
  clock: Clock;
  problemForm?: ProblemForm | undefined;
  /** Finds a proposal, or throws; and the time of the database's clock. */
  find(place: ProposalPlace): Promise<{ now: number; found: Proposal }>;
  onError(error: unknown): void;
};

const attempts = 5;
const ends = {
  approved: "it was approved",
  failed: "it has failed",
  rejected: "it was rejected",
  expired: "it has expired",
};

/** Creates the decisions about proposals. */
export function createDecisions(dependencies: Dependencies) {
  const { proposals, keys, use, readRequest, clock, problemForm, find, onError } = dependencies;

  async function permitDecision(caller: Caller, { id, kind, sender, keyId }: Proposal): Promise<void> {
    permitScope(caller, kind === "system" ? "system:send" : "message:send");
    permitSender(caller, sender);
    const isOwn = caller.keyId === keyId || (await keys.isMadeBy(caller.keyId, keyId));
    if (isOwn) throw errorAbout("own_proposal", { proposal: id });
  }

  /** What is proposed, if the key that did so may still propose it. */
  async function readProposed({ keyId, request: stored, sender }: Proposal, now: number): Promise<ScheduledRequest> {
    const request = readRequest(stored ?? "");
    const proposer = await holderOf(keys, { keyId, now, did: "proposed" });
    permitOrganization(proposer, request.organizationId);
    permitSender(proposer, sender);
    return request;
  }

  async function approveOne(caller: Caller, org: string, found: Proposal, decision: Decision) {
    await use.know(org);
    const own = { id: found.id, tryId: createId() };
    let entry: Decided;
    let tell: TellStored | undefined;
    let isStored = false;
    try {
      try {
        const prepared = await toSend(caller, await readProposed(found, decision.now), decision.now);
        tell = await use.admitSend(prepared.send);
        entry = { ...own, ...prepared };
      } catch (error) {
        entry = { ...own, failure: failureOfRequest(error, onError) };
      }
      const outcome = await proposals.approve(org, entry, decision, proofOf(caller, clock.now()));
      isStored = outcome?.isNew === true;
      return outcome;
    } finally {
      tell?.(isStored);
    }
  }

  /** Decides a proposal, unless that has been decided so before. Repeats what others changed meanwhile. */
  async function decide(
    caller: Caller,
    place: ProposalPlace,
    done: readonly ProposalState[],
    decideOne: (found: Proposal, now: number) => Promise<DecisionOutcome>,
  ): Promise<DecidedProposal> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { now, found } = await find(place);
      await permitDecision(caller, found);
      const state = stateAt(found, now);
      if (done.includes(state)) return toDecided(found, now);
      if (state !== "waiting") throw over(found, state);
      const outcome = await decideOne(found, now);
      if (outcome !== undefined) return toDecided(outcome.proposal, now);
    }
    throw unavailable({ detail: "other calls are changing the same proposal; try again" });
  }

  function toDecided(proposal: Proposal, now: number): DecidedProposal {
    const { keyId: proposer, sender, serverMid } = proposal;
    const target = { proposer, sender, ...(serverMid !== null && { message: serverMid }) };
    return { shown: showProposal(proposal, now, problemForm), target };
  }

  return {
    /**
     * Sends what is proposed, once whoever else approves it. It may fail instead. Throws `own_proposal`, what the caller may not
     * send, and `already_sent` if it was rejected or has expired.
     */
    approve: (caller: Caller, place: ProposalPlace, reason?: string) =>
      decide(caller, place, ["approved", "failed"], (found, now) =>
        approveOne(caller, place.org, found, { by: caller.keyId, reason: reason ?? null, now }),
      ),
    /** Throws like `approve`, and `already_sent` for a proposal that was approved. */
    reject: (caller: Caller, place: ProposalPlace, reason?: string) =>
      decide(caller, place, ["rejected"], (found, now) => {
        const decision = { by: caller.keyId, reason: reason ?? null, now };
        return proposals.reject(place.org, found.id, decision, proofOf(caller, clock.now()));
      }),
  };
}

function over({ id }: Proposal, state: Exclude<ProposalState, "waiting">): HeraldError {
  return new HeraldError("already_sent", `the proposal ${quoted(id)} no longer waits: ${ends[state]}`);
}
