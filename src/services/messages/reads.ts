import { unavailable } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { MarkReadRequest } from "../../contract/messages/reads.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { NewRead, ReadCall, ReadMarks, ReadResult, ReadScope } from "../../store/reads/ports.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { failAlone, type Outcome, resultOf } from "./fail-alone.ts";
import { missingCodes } from "./messages.ts";

/** Marks conversations as read. */
export type Reads = ReturnType<typeof createReads>;

type Dependencies = {
  readMarks: ReadMarks;
  use: Pick<OrganizationUse, "admitChange">;
  clock: Clock;
};

const maxBatch = rowsOfStep / 2; // two rows each: a mark, and an event
const maxWaiting = 20_000;
const bytesOfRead = 512;
const mostLooks = 3;

/** What a read store's scope holds; throws the reason if the call must be refused. */
export function requireScope(
  scope: ReadScope,
  { org: organization, cid: conversation, uid: sender }: ReadCall,
): Extract<ReadScope, { outcome: "found" }> {
  if (scope.outcome === "refused") {
    const { missing, message = "" } = scope;
    throw errorAbout(missingCodes[missing], { organization, conversation, sender, message });
  }
  return scope;
}

/** The call of a request. Throws if the caller's key does not allow it. */
export function toReadCall(caller: Caller, { organizationId, senderId, messageRead }: MarkReadRequest): ReadCall {
  permitOrganization(caller, organizationId);
  permitSender(caller, senderId);
  return { org: organizationId, uid: senderId, cid: messageRead.cid, ids: messageRead.ids };
}

/** Creates reads on the store. Those of one turn of the event loop, and those that arrive during a commit, share one. */
export function createReads({ readMarks, use, clock }: Dependencies) {
  const batcher = createBatcher<NewRead, Outcome<ReadResult>>({
    flush: failAlone((reads: NewRead[]) => readMarks.markAll(reads)),
    maxBatch,
    maxWaiting,
    keyOf: ({ org }) => org,
    whenFull: () => unavailable({ detail: "too many reads are waiting for the database; send them again" }),
  });

  async function store(read: NewRead): Promise<ReadResult> {
    const tell = use.admitChange(read.org, bytesOfRead);
    let result: ReadResult = 0;
    try {
      result = resultOf(await batcher.add(read));
      return result;
    } finally {
      tell(typeof result === "number" && result > 0);
    }
  }

  /**
   * Moves a participant's mark forward, and tells each author of what is newly read; an earlier mark stays. Resolves
   * when that is stored, or at once if nothing was unread. Throws what `mark` throws, except for the key's rights.
   */
  async function markAs(call: ReadCall, keyId?: string): Promise<void> {
    const { org, cid, uid } = call;
    for (let looked = 0; looked < mostLooks; looked++) {
      const { unread } = requireScope(await readMarks.scopeOf(call), call);
      if (unread.length === 0) return;
      const result = await store({ org, cid, uid, unread, now: clock.now(), keyId });
      if (result === "left") throw errorAbout("sender_not_participant", { sender: uid, conversation: cid });
      if (result !== "stale") return;
    }
    throw unavailable({ detail: "the log is changing; send the read again" });
  }

  return {
    markAs,
    /** Marks what the request names as read by its `senderId`. Throws the errors of `markRead` in the contract. */
    mark: (caller: Caller, request: MarkReadRequest) => markAs(toReadCall(caller, request), caller.keyId),
  };
}
