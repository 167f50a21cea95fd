import { invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { toSeconds } from "../../contract/identifiers.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import {
  type AppendRequest,
  type AppendResponse,
  appendPayload,
  bodyOf,
  lengthOf,
  midOfPiece,
} from "../../contract/messages/append.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { OpenMessageReads, OpenMessageWrites } from "../../store/messages/ports.ts";
import type { NewSend, Organizations, SendLog } from "../../store/ports.ts";
import { refuseMissing } from "../directory/directory.ts";
import { createDueWork } from "../due-work.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { fingerprintOf, requireStored, type Sent, unfit } from "./messages.ts";

/** Appends to messages that grow. */
export type Appends = ReturnType<typeof createAppends>;

type Dependencies = {
  openMessages: OpenMessageReads & OpenMessageWrites & { isShared: boolean };
  organizations: Pick<Organizations, "get">;
  sends: Pick<SendLog, "append">;
  use: Pick<OrganizationUse, "admitChange">;
  limits: Pick<PayloadLimits, "bodyCharacters">;
  clock: Clock;
  elapsed: SteadyClock;
};

/** A message that a caller may append to: its id, and its offset in the log. */
export type Target = { caller: Caller; org: string; id: string; cid: string; place: number; sender: string };

/** A piece to append. */
export type Piece = { offset: number; text: string; done: boolean };

/** Creates appends on the log. The rules are checked where they must hold: in the transaction that stores the piece. */
export function createAppends({
  openMessages,
  organizations,
  sends,
  use,
  limits,
  clock,
}: Omit<Dependencies, "elapsed">) {
  /** The message to append to. Throws unless the key allows it, and the message is there and grows or has grown. */
  async function find(
    caller: Caller,
    { organizationId: org, senderId, messageAppend }: AppendRequest,
  ): Promise<Target> {
    permitOrganization(caller, org);
    permitSender(caller, senderId);
    const { id } = messageAppend;
    const found = await openMessages.find(org, id);
    if (found === undefined)
      return await refuseMissing(organizations, org, errorAbout("message_not_found", { message: id }));
    const { cid, offset: place, sender, length, payload = "" } = found;
    if (sender !== senderId) throw errorAbout("sender_not_owner", { message: id, sender: senderId });
    if (length === undefined) throw unfit(lengthOf(bodyOf(payload) ?? ""));
    return { caller, org, id, cid, place, sender };
  }

  /** Stores a piece, then tells it to everyone online. */
  async function appendTo(target: Target, { offset, text, done }: Piece): Promise<Sent<AppendResponse>> {
    const { caller, org, id, cid, place, sender } = target;
    const length = offset + lengthOf(text);
    if (length > limits.bodyCharacters) {
      const detail = `must be at most ${limits.bodyCharacters} characters together with those before it`;
      throw invalidRequest("/messageAppend/text", detail);
    }
    const createdAt = clock.now();
    const send: NewSend = {
      ...{ org, kind: "append", id: createId(createdAt), cid, sender, uids: undefined, createdAt, keyId: caller.keyId },
      mid: midOfPiece(id, offset),
      fingerprint: fingerprintOf([text, done]),
      payload: appendPayload({ id, cid, from: sender, offset, text, done, t: toSeconds(createdAt) }),
      piece: { of: id, offset, text, isDone: done },
      completes: done ? place : undefined,
    };
    const tell = use.admitChange(org, Buffer.byteLength(text) * 2); // once as a piece, and once in the message
    let isStored = false;
    try {
      const { outcome } = requireStored(await sends.append(send), send);
      isStored = outcome === "stored";
      return { body: { success: true, length }, isReplay: !isStored };
    } finally {
      tell(isStored);
    }
  }

  return {
    find,
    appendTo,
    /** Appends one piece. Throws the errors of `appendToMessage` in the contract. */
    append: async (caller: Caller, request: AppendRequest): Promise<Sent<AppendResponse>> =>
      await appendTo(await find(caller, request), request.messageAppend),
  };
}

/** Creates the work that completes messages whose senders are silent, on this node or another. */
export function createClosing({ openMessages, elapsed }: Pick<Dependencies, "openMessages" | "elapsed">) {
  return createDueWork({
    due: openMessages,
    workSome: async (org, now) => (await openMessages.completeSome(org, now)) > 0,
    elapsed,
  });
}
