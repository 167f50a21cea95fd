import { HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type {
  ChangeResponse,
  EditMessageRequest,
  RecallMessagesRequest,
  RecallSystemMessagesRequest,
} from "../../contract/messages/changes.ts";
import { maxReactionsOfMessage, type UpdateReactionsRequest } from "../../contract/messages/reactions.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type {
  ChangeOutcome,
  Hidings,
  MessageChanges,
  NewEdit,
  NewReaction,
  NewRecall,
  NewSystemRecall,
  ReactionOutcome,
  Reactions,
  SystemRecallRefusal,
  SystemRecalls,
} from "../../store/messages/ports.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { missingCodes, type Sent } from "./messages.ts";

/** Edits messages, reacts to them, and takes them and system messages back. All throw the errors of their operation in the contract. */
export type Changes = ReturnType<typeof createChanges>;

type Dependencies = {
  changes: Pick<MessageChanges, "edit" | "recall">;
  systemRecalls: Pick<SystemRecalls, "recall">;
  hidings: Pick<Hidings, "hide">;
  reactions: Pick<Reactions, "react">;
  use: Pick<OrganizationUse, "admitChange">;
  clock: Clock;
};

/** Whether a change would alter anything; throws the reason if it is refused. */
export function requireChange(outcome: ChangeOutcome, { org, sender, ...change }: NewEdit | NewRecall): boolean {
  if (outcome.outcome !== "refused") return outcome.outcome === "changed";
  if (outcome.missing === "completion") throw new HeraldError("message_open");
  if (outcome.missing !== "content") {
    const {
      missing,
      message = "id" in change ? change.id : "",
      conversation = "cid" in change ? change.cid : "",
    } = outcome;
    throw errorAbout(missingCodes[missing], { organization: org, sender, message, conversation });
  }
  const fields = [{ pointer: "/messageEdit/body", detail: "must not be empty, as the message has no attachment" }];
  throw new HeraldError("invalid_request", undefined, { fields });
}

/** The edit of a request. Throws if the caller's key does not allow it. */
export function toEdit(
  caller: Caller,
  { organizationId, senderId, messageEdit: { id, body, x } }: EditMessageRequest,
  at: number,
): NewEdit {
  const change = toChange(caller, organizationId, senderId, at);
  return { ...change, eventId: createId(at), id, body, x: x && JSON.stringify(x) };
}

/** Whether a change of reactions would alter anything; throws the reason if it is refused. */
export function requireReaction(
  outcome: ReactionOutcome,
  { org: organization, sender, id: message }: NewReaction,
): boolean {
  if (outcome.outcome !== "refused") return outcome.outcome === "changed";
  const { missing, conversation = "" } = outcome;
  if (missing !== "reactions") throw errorAbout(missingCodes[missing], { organization, sender, message, conversation });
  throw invalidRequest("/messageReaction/add", `the message has ${maxReactionsOfMessage} different reactions already`);
}

/** The change of reactions of a request. Throws if the caller's key does not allow it. */
export function toReaction(
  caller: Caller,
  { organizationId, senderId, messageReaction: { mid, add, remove } }: UpdateReactionsRequest,
  at: number,
): NewReaction {
  const change = toChange(caller, organizationId, senderId, at);
  return { ...change, eventId: createId(at), id: mid, add, remove };
}

/** The recall of a request. Throws if the caller's key does not allow it. */
export function toRecall(
  caller: Caller,
  { organizationId, senderId, messageDelete: { cid, ids } }: RecallMessagesRequest,
  at: number,
): NewRecall {
  const change = toChange(caller, organizationId, senderId, at);
  return { ...change, eventId: createId(at), cid, ids: [...new Set(ids)] };
}

/** The recall of a request. Throws if the caller's key does not allow it. */
export function toSystemRecall(
  caller: Caller,
  { organizationId, senderId, messageSystemDelete: { ids } }: RecallSystemMessagesRequest,
  at: number,
): NewSystemRecall {
  return { ...toChange(caller, organizationId, senderId, at), ids: [...new Set(ids)] };
}

/** Returns the outcome of a recall of system messages; throws the reason if it is refused. */
export function requireSystemRecall<Outcome extends { outcome: "changed" }>(
  outcome: Outcome | SystemRecallRefusal,
  { org: organization, sender }: NewSystemRecall,
): Outcome {
  if (outcome.outcome === "changed") return outcome;
  const { missing, message = "" } = outcome;
  throw errorAbout(missingCodes[missing], { organization, sender, message });
}

const bytesOfReaction = 512;

function toChange(caller: Caller, org: string, sender: string, at: number) {
  permitOrganization(caller, org);
  permitSender(caller, sender);
  return { org, sender, at, keyId: caller.keyId };
}

/** The bytes that a hiding adds: those of its event, and of its ids once more. */
function bytesOfHiding({ ids }: NewRecall): number {
  return bytesOfReaction + 2 * Buffer.byteLength(ids.join());
}

/** The bytes that an edit adds at most, but for names: its event and, the first time, the message grow by what it says. */
function bytesOfEdit({ body, x = "" }: NewEdit): number {
  return Buffer.byteLength(body) + Buffer.byteLength(x);
}

/** Creates changes on the store. The rules are checked where they must hold: in the transaction that makes the change. */
export function createChanges({ changes, systemRecalls, hidings, reactions, use, clock }: Dependencies) {
  /** Makes a change that its organization may make now. `make` returns whether it changed anything. */
  async function apply(org: string, bytes: number, make: () => Promise<boolean>): Promise<Sent<ChangeResponse>> {
    const tell = use.admitChange(org, bytes);
    let isChanged = false;
    try {
      isChanged = await make();
      return { body: { success: true }, isReplay: !isChanged };
    } finally {
      tell(isChanged);
    }
  }

  return {
    /** Stores the edit, then tells it to everyone online. `isReplay`: the message said this already. */
    async edit(caller: Caller, request: EditMessageRequest): Promise<Sent<ChangeResponse>> {
      const edit = toEdit(caller, request, clock.now());
      return await apply(edit.org, bytesOfEdit(edit), async () => requireChange(await changes.edit(edit), edit));
    },
    /** Stores what changes of the reactions, then tells it to everyone online. `isReplay`: nothing changes. */
    async react(caller: Caller, request: UpdateReactionsRequest): Promise<Sent<ChangeResponse>> {
      const reaction = toReaction(caller, request, clock.now());
      return await apply(reaction.org, bytesOfReaction, async () =>
        requireReaction(await reactions.react(reaction), reaction),
      );
    },
    /**
     * Takes all of the messages back, or none, and then tells it to everyone online; or hides them from their user, whose connections
     * alone are told. `isReplay`: the user has hidden them already.
     */
    async recall(caller: Caller, request: RecallMessagesRequest): Promise<Sent<ChangeResponse>> {
      const recall = toRecall(caller, request, clock.now());
      if (request.messageDelete.type === "myself")
        return await apply(recall.org, bytesOfHiding(recall), async () =>
          requireChange(await hidings.hide(recall), recall),
        );
      return await apply(recall.org, 0, async () => requireChange(await changes.recall(recall), recall));
    },
    /** Takes all of the system messages back, or none, and then tells it to whom they were addressed to, if online. */
    async recallSystem(caller: Caller, request: RecallSystemMessagesRequest): Promise<Sent<ChangeResponse>> {
      const recall = toSystemRecall(caller, request, clock.now());
      return await apply(recall.org, 0, async () => {
        requireSystemRecall(await systemRecalls.recall(recall), recall);
        return true;
      });
    },
  };
}
