import { z } from "zod";
import { invalidRequest } from "../../contract/errors/errors.ts";
import { absent, errorAbout } from "../../contract/errors/naming.ts";
import type { ProblemForm } from "../../contract/errors/problem.ts";
import { hasScope } from "../../contract/keys/reach.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { type ProposalShown, proposalWaitsMs } from "../../contract/proposals.ts";
import type { ScheduledRequest } from "../../contract/schedule.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { BatchLog, OrganizationReads } from "../../store/ports.ts";
import type {
  NewProposal,
  Proposal,
  ProposalReads,
  ProposalState,
  ProposalWrites,
} from "../../store/proposals/ports.ts";
import { refuseMissing, requireOrganization } from "../directory/directory.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { requireFit } from "../messages/dry-runs.ts";
import { fingerprintOf } from "../messages/messages.ts";
import { type Page, type PageQuery, parseCursor } from "../pages.ts";
import { createRequestReader, requireOwn, toSend } from "../schedule/scheduled-requests.ts";
import { createDecisions, type ProposalPlace } from "./decisions.ts";
import { showProposal } from "./shown-proposals.ts";

/** Proposes sends, shows proposals and decides them. */
export type Proposals = ReturnType<typeof createProposals>;

type Wish = { request: ScheduledRequest; reason?: string | undefined };
type ProposalQuery = PageQuery & { state?: ProposalState | undefined };

type Dependencies = {
  proposals: ProposalReads & ProposalWrites;
  keys: Pick<KeyReads, "get" | "isMadeBy">;
  organizations: Pick<OrganizationReads, "get">;
  checks: Pick<BatchLog, "check">;
  use: Pick<OrganizationUse, "know" | "admitSend" | "requireRoomFor" | "reserveRoom">;
  limits: PayloadLimits;
  /** The clock that keys expire by. */
  clock: Clock;
  problemForm?: ProblemForm | undefined;
  onError(error: unknown): void;
};

const mostWaiting = 1_000;
const tooMany = `${mostWaiting} proposals of this organization are waiting, which is the maximum; decide some, or wait until they expire`;
const maxPageBytes = 512 * 1024;
const pagePlace = z.strictObject({ expiresAt: z.number(), id: z.string() });

/** Creates the proposals on the store. The clock of the database decides which have expired. */
export function createProposals({ limits, ...dependencies }: Dependencies) {
  const { proposals, organizations, checks, use, clock, problemForm } = dependencies;
  const readRequest = createRequestReader(limits);

  async function find(place: ProposalPlace): Promise<{ now: number; found: Proposal }> {
    const { now, found } = await proposals.find(place.org, place.id);
    return { now, found: found ?? (await refuseMissing(organizations, place.org, absentProposal(place))) };
  }

  async function store(caller: Caller, org: string, proposal: NewProposal) {
    const room = use.reserveRoom(org, Buffer.byteLength(proposal.request));
    if (room.error !== undefined) throw room.error;
    let isStored = false;
    try {
      const put = await proposals.put(org, proposal, proofOf(caller, clock.now()));
      if (!("proposal" in put))
        throw put.outcome === "missing"
          ? errorAbout("organization_not_found", { organization: org })
          : invalidRequest("", tooMany);
      isStored = put.outcome === "done";
      return put;
    } finally {
      room.end(isStored);
    }
  }

  return {
    /** Proposes a send. The same again changes nothing. Throws what the send would throw, and `message_id_conflict`. */
    async put(caller: Caller, { org, id }: ProposalPlace, { request, reason }: Wish) {
      requireOwn(caller, org, request);
      const { now, found } = await proposals.find(org, id);
      const fingerprint = fingerprintOf([request, reason ?? null]);
      if (found !== undefined)
        return { shown: showProposal(same(caller, found, fingerprint), now, problemForm), isNew: false };
      const { send } = await toSend(caller, request, now);
      await requireFit({ checks, use }, send);
      const { outcome, proposal } = await store(caller, org, {
        id,
        kind: send.kind,
        cid: send.cid,
        sender: request.senderId,
        request: JSON.stringify(request),
        fingerprint,
        reason: reason ?? null,
        keyId: caller.keyId,
        createdAt: now,
        expiresAt: now + proposalWaitsMs,
        mostWaiting,
      });
      const shown = showProposal(outcome === "done" ? proposal : same(caller, proposal, fingerprint), now, problemForm);
      return { shown, isNew: outcome === "done" };
    },
    /** Throws `not_found`, also for a proposal that is hidden from the caller. */
    async get(caller: Caller, place: ProposalPlace): Promise<ProposalShown> {
      const { now, found } = await find(place);
      const own = ownOf(caller);
      if (own !== undefined && found.keyId !== own) throw absentProposal(place);
      return showProposal(found, now, problemForm);
    },
    async list(caller: Caller, org: string, { limit, cursor, state }: ProposalQuery): Promise<Page<ProposalShown>> {
      await requireOrganization(organizations, org);
      const after = parseCursor(cursor, pagePlace);
      const page = { state, keyId: ownOf(caller), after, limit, maxBytes: maxPageBytes };
      const { now, items, hasMore } = await proposals.list(org, page);
      const last = hasMore ? items.at(-1) : undefined;
      return {
        items: items.map((item) => showProposal(item, now, problemForm)),
        cursor: last === undefined ? null : encodeCursor({ expiresAt: last.expiresAt, id: last.id }),
      };
    },
    ...createDecisions({ ...dependencies, readRequest, find }),
  };
}

/** The key whose proposals a caller sees; `undefined` for one that sees those of all. */
function ownOf(caller: Caller): string | undefined {
  return hasScope(caller.rights.scopes, "history:read") ? undefined : caller.keyId;
}

/** The proposal, if the caller has proposed the same. */
function same({ keyId }: Caller, found: Proposal, fingerprint: string): Proposal {
  if (found.keyId === keyId && found.fingerprint === fingerprint) return found;
  throw errorAbout("message_id_conflict", { id: found.id });
}

function absentProposal({ id }: ProposalPlace) {
  return absent("proposal", id);
}
