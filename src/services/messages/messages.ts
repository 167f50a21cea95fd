import { HeraldError } from "../../contract/errors/errors.ts";
import { toIso, toSeconds } from "../../contract/identifiers.ts";
import type { Message } from "../../contract/messages/events.ts";
import type { SendMessageRequest, SendMessageResponse } from "../../contract/messages/messages.ts";
import { canonicalJson } from "../../lib/json/canonical-json.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { NewSend, SendLog, SendOutcome } from "../../store/ports.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";

/** The response to a send, and whether an earlier call stored it. */
export type Sent<Body> = { body: Body; isReplay: boolean };

/** Sends messages to conversations. */
export type Messages = {
  /**
   * Stores the message, then delivers it to everyone online. Repeating a `message.id` repeats the first answer. Throws
   * the errors of `sendMessage` in the contract.
   */
  send(caller: Caller, request: SendMessageRequest): Promise<Sent<SendMessageResponse>>;
};

/** The hash that distinguishes a retry from another payload under the same id. */
export function fingerprintOf(payload: unknown): string {
  return Bun.CryptoHasher.hash("sha256", canonicalJson(payload), "base64url");
}

const missingCodes = {
  organization: "organization_not_found",
  conversation: "conversation_not_found",
  participant: "sender_not_participant",
  user: "sender_not_found",
} as const;

/** What the log holds of a send, stored now or by an earlier call; throws the reason if it holds nothing. */
export function requireStored(outcome: SendOutcome): { id: string; createdAt: number; isReplay: boolean } {
  switch (outcome.outcome) {
    case "stored":
    case "replayed":
      return { id: outcome.id, createdAt: outcome.createdAt, isReplay: outcome.outcome === "replayed" };
    case "conflict":
      throw new HeraldError("message_id_conflict");
    case "refused":
      throw new HeraldError(missingCodes[outcome.missing]);
    case "failed":
      throw outcome.error;
  }
}

/** The send for a request. Throws if the caller's key does not allow it. */
export function toMessageSend(
  caller: Caller,
  { organizationId, senderId, message: { id: mid, body, cid, x, attachments: attached } }: SendMessageRequest,
  createdAt: number,
): NewSend {
  permitOrganization(caller, organizationId);
  permitSender(caller, senderId);
  const id = createId();
  const attachments = attached.map((attachment) => ({
    file_id: attachment.file_id ?? createId(),
    file_name: attachment.name,
  }));
  const message: Message = {
    _id: id,
    t: toSeconds(createdAt),
    from: senderId,
    body,
    cid,
    x,
    attachments,
    created_at: toIso(createdAt),
  };
  return {
    org: organizationId,
    kind: "message",
    id,
    cid,
    sender: senderId,
    mid,
    fingerprint: mid === undefined ? "" : fingerprintOf([body, cid, x, attached]),
    payload: JSON.stringify({ message }),
    uids: undefined,
    createdAt,
    keyId: caller.keyId,
  };
}

/** The parts that take a send: the log, the organizations' limits and a clock. */
export type Sending = { sends: SendLog; use: Pick<OrganizationUse, "admitSend">; clock: Clock };

/**
 * Appends a send to the log if its organization may send now. Throws what the log or the organization's limits refuse.
 */
export async function append({ sends, use }: Sending, send: NewSend): Promise<ReturnType<typeof requireStored>> {
  const admitted = use.admitSend(send);
  const tell = typeof admitted === "function" ? admitted : await admitted;
  let isStored = false;
  try {
    const stored = requireStored(await sends.append(send));
    isStored = !stored.isReplay;
    return stored;
  } finally {
    tell(isStored);
  }
}

/**
 * Creates messages on the log. The rules are checked where they must hold: in the transaction that stores the message.
 */
export function createMessages(sending: Sending): Messages {
  return {
    async send(caller, request) {
      const send = toMessageSend(caller, request, sending.clock.now());
      const { id, createdAt, isReplay } = await append(sending, send);
      return { body: { ask: { mid: send.mid ?? id, server_mid: id, t: toSeconds(createdAt) } }, isReplay };
    },
  };
}
