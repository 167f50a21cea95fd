import { HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { anyBytes } from "../../contract/files.ts";
import { isWithinAYear, toIso, toSeconds } from "../../contract/identifiers.ts";
import type { Message } from "../../contract/messages/events.ts";
import { keptUntil } from "../../contract/messages/inbox.ts";
import type {
  SendMessageRequest,
  SendMessageResponse,
  SendSystemMessageRequest,
  SendSystemMessageResponse,
} from "../../contract/messages/messages.ts";
import { sortInTurns } from "../../lib/event-loop/sort-in-turns.ts";
import { canonicalJson } from "../../lib/json/json-values.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { NamedFile } from "../../store/files/ports.ts";
import type { NewSend, SendLog, SendNames, SendOutcome, SendVerdict } from "../../store/ports.ts";
import type { AwaitedSends, Waited, WaitWish } from "../delivery/awaited-sends.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse, TellStored } from "../limits/organization-use.ts";
import { keptIdOf } from "./kept-ids.ts";
import { referencesOf } from "./references.ts";
import { systemPayloadOf } from "./system-event.ts";

/** The response to a send, whether an earlier call stored it, and what is known of its delivery if the caller waited. */
export type Sent<Body> = { body: Body; isReplay: boolean; waited?: Waited | undefined };

/** Sends messages to conversations, and system messages to lists of users, to conversations and to everyone. */
export type Messages = ReturnType<typeof createMessages>;

/** The hash that distinguishes a retry from another payload under the same id. */
export function fingerprintOf(payload: unknown): string {
  return Bun.CryptoHasher.hash("sha256", canonicalJson(payload), "base64url");
}

/** The codes of what the store did not find for a send, a change or a read. */
export const missingCodes = {
  organization: "organization_not_found",
  conversation: "conversation_not_found",
  message: "message_not_found",
  participant: "sender_not_participant",
  owner: "sender_not_owner",
  user: "sender_not_found",
  file: "file_not_found",
} as const;

/** The error for a send that the log refuses. */
export function refusalOf(
  verdict: Exclude<SendVerdict, { outcome: "replayed" }>,
  { org: organization, kind = "message", sender, cid: conversation = "", mid = "" }: SendNames,
): HeraldError {
  if (verdict.outcome === "conflict") return errorAbout("message_id_conflict", { id: mid });
  if (verdict.outcome === "unfit") return unfit(verdict.length);
  const { missing, file = "", message = "" } = verdict;
  if (missing === "time") return invalidRequest(expiryPointer({ kind }), "must be in the future");
  return errorAbout(missingCodes[missing], { organization, sender, conversation, file, message });
}

/** The error for a piece that does not begin at the end of its message, which is so long, or is complete. */
export function unfit(length: number): HeraldError {
  const detail = `the message has ${length} characters, or is complete; go on from there, unless it is complete`;
  return new HeraldError("append_conflict", detail, { length });
}

/** Where a request says when its send expires. */
export function expiryPointer({ kind }: Pick<NewSend, "kind">): string {
  return kind === "system" ? "/messageSystem/expires_at" : "/message/expires_at";
}

/**
 * When a send expires: in milliseconds since the Unix epoch, and as the event says it. Throws for a time that is more than a year
 * ahead.
 */
function toExpiry(
  kind: NewSend["kind"],
  text: string | undefined,
  now: number,
): { expiresAt?: number; expires_at?: string } {
  if (text === undefined) return {};
  const expiresAt = Date.parse(text);
  if (!isWithinAYear(expiresAt, now)) throw invalidRequest(expiryPointer({ kind }), "must be at most a year ahead");
  return { expiresAt, expires_at: toIso(expiresAt) };
}

/** The outcome of a send that the log holds, stored now or by an earlier call, and what is known of its delivery. */
export type Stored = Extract<SendOutcome, { outcome: "stored" | "replayed" }> & { waited?: Waited | undefined };

/** The outcome of a send, if the log holds it; throws the reason if not. */
export function requireStored(outcome: SendOutcome, send: SendNames): Stored {
  switch (outcome.outcome) {
    case "stored":
    case "replayed":
      return outcome;
    case "conflict":
    case "unfit":
    case "refused":
      throw refusalOf(outcome, send);
    case "failed":
      throw outcome.error;
  }
}

/** What the fingerprint of a send has besides: nothing without options, so that an id used before them is still recognized. */
const optionsOf = (options: object) => (Object.values(options).some((one) => one !== undefined) ? [options] : []);

/** The send for a request. Throws if the caller's key does not allow it. */
export function toMessageSend(
  caller: Caller,
  { organizationId, senderId, message: content }: SendMessageRequest,
  createdAt: number,
): NewSend {
  permitOrganization(caller, organizationId);
  permitSender(caller, senderId);
  const { id: mid, body, cid, x, attachments: attached, silent, open } = content;
  const { expiresAt, expires_at } = toExpiry("message", content.expires_at, createdAt);
  const references = referencesOf(content);
  const id = createId();
  const files = attached.map(toNamedFile);
  const attachments = files.map((file) => ({ file_id: file.id, file_name: file.name }));
  const message: Message = {
    _id: id,
    t: toSeconds(createdAt),
    from: senderId,
    body,
    cid,
    x,
    attachments,
    created_at: toIso(createdAt),
    ...(silent && { silent }),
    ...(open && { open }),
    ...(expires_at !== undefined && { expires_at }),
    ...references,
  };
  const isPlain = (silent ?? open ?? expires_at ?? references) === undefined;
  const options = isPlain ? [] : [{ silent, open, expires_at, ...references }]; // as `optionsOf`, at no cost for nearly all
  return {
    org: organizationId,
    kind: "message",
    id,
    cid,
    sender: senderId,
    mid,
    fingerprint: mid === undefined ? "" : fingerprintOf([body, cid, x, attached, ...options]),
    payload: JSON.stringify({ message }),
    files: files.length > 0 ? files : undefined,
    uids: undefined,
    silent,
    isOpen: open,
    expiresAt,
    referred: references && (Object.values(references) as string[]),
    createdAt,
    keyId: caller.keyId,
  };
}

type Attachment = SendMessageRequest["message"]["attachments"][number];

function toNamedFile({ file_id, name, size = 0, content_type }: Attachment): NamedFile {
  const contentType = content_type || anyBytes;
  return { id: file_id ?? createId(), name, size, contentType, isGiven: file_id !== undefined };
}

/**
 * Converts a request to the send to append. Recipients know a system message by its `mid`, so an id that the server
 * assigns identifies the send like a caller's. Throws if the caller's key does not allow it. Thousands of recipients
 * are sorted in turns of the event loop.
 */
export async function toSystemSend(
  caller: Caller,
  { organizationId, senderId, messageSystem: content }: SendSystemMessageRequest,
  createdAt: number,
): Promise<NewSend & { mid: string; uids: string[] }> {
  permitOrganization(caller, organizationId);
  permitSender(caller, senderId);
  const { id: givenMid, x, uids: givenUids, cid, keep_days, key, silent } = content;
  const { expiresAt, expires_at } = toExpiry("system", content.expires_at, createdAt);
  const newId = createId();
  const mid = givenMid ?? newId;
  const { uids, sorted } = await toDistinct(givenUids ?? []);
  const recipients = givenUids !== undefined ? sorted : cid !== undefined ? { cid } : "everyone";
  const kept = keep_days === undefined ? undefined : { until: keptUntil(createdAt, keep_days), key };
  const said = { mid, sender: senderId, x, cid, createdAt, isKept: kept !== undefined, key, silent, expiresAt };
  return {
    org: organizationId,
    kind: "system",
    id: kept === undefined ? newId : keptIdOf({ org: organizationId, sender: senderId, mid, createdAt }),
    cid,
    sender: senderId,
    mid,
    fingerprint: fingerprintOf([x, recipients, ...optionsOf({ keep_days, key, silent, expires_at })]),
    payload: systemPayloadOf(said),
    uids,
    kept,
    silent,
    expiresAt,
    createdAt,
    keyId: caller.keyId,
  };
}

/** The ids without duplicates, in the given order, and all distinct ones sorted. */
async function toDistinct(given: string[]): Promise<{ uids: string[]; sorted: string[] }> {
  const sorted = await sortInTurns(given);
  return { uids: sorted.length === given.length ? given : [...new Set(given)], sorted };
}

/** The answer to a message that is stored. */
export function toMessageAnswer(
  { mid }: Pick<NewSend, "mid">,
  { outcome, id, createdAt, waited }: Stored,
): Sent<SendMessageResponse> {
  const body = { ask: { mid: mid ?? id, server_mid: id, t: toSeconds(createdAt) } };
  return { body, isReplay: outcome === "replayed", waited };
}

/** The answer to a system message that is stored. */
export function toSystemAnswer(
  { mid }: { mid: string },
  { outcome, createdAt, waited }: Stored,
): Sent<SendSystemMessageResponse> {
  return { body: { ack: { mid, t: toSeconds(createdAt) } }, isReplay: outcome === "replayed", waited };
}

/** The parts that take a send: the log, the organizations' limits and a clock. */
export type Sending = { sends: Pick<SendLog, "append">; use: Pick<OrganizationUse, "admitSend">; clock: Clock };

/** Follows a send that was admitted and is being appended, and tells its organization's use how that ended. */
export async function tellAppended(appending: Promise<SendOutcome>, send: NewSend, tell: TellStored): Promise<Stored> {
  let isStored = false;
  try {
    const stored = requireStored(await appending, send);
    isStored = stored.outcome === "stored";
    return stored;
  } finally {
    tell(isStored);
  }
}

/**
 * Creates messages on the log. The rules are checked where they must hold: in the transaction that stores the message.
 */
export function createMessages({ sends, use, clock, awaited }: Sending & { awaited: AwaitedSends }) {
  /** Appends a send if its organization may send now: throws if its limits refuse, and rejects if the log does. */
  function append(send: NewSend): Promise<Stored> {
    const admitted = use.admitSend(send);
    if (typeof admitted === "function") return tellAppended(sends.append(send), send, admitted);
    return admitted.then((tell) => tellAppended(sends.append(send), send, tell));
  }

  /**
   * Appends a send, and then fulfils the caller's wish, if there is one: not for a message that grows, which nobody has yet. Throws and
   * rejects.
   */
  const appendAwaited = (send: NewSend, wish: WaitWish | undefined) =>
    wish === undefined || send.isOpen ? append(send) : awaited.follow(send, wish, () => append(send));

  return {
    /**
     * Stores the message, then delivers it to everyone online. Repeating a `message.id` repeats the first answer. Throws
     * the errors of `sendMessage` in the contract. With a wish, resolves when that is fulfilled.
     */
    async send(caller: Caller, request: SendMessageRequest, wish?: WaitWish): Promise<Sent<SendMessageResponse>> {
      const send = toMessageSend(caller, request, clock.now());
      return toMessageAnswer(send, await appendAwaited(send, wish));
    },
    /**
     * Stores the system message, then delivers it to those of its recipients who are online. Retries and wishes work as for
     * messages.
     */
    async sendSystem(
      caller: Caller,
      request: SendSystemMessageRequest,
      wish?: WaitWish,
    ): Promise<Sent<SendSystemMessageResponse>> {
      const send = await toSystemSend(caller, request, clock.now());
      return toSystemAnswer(send, await appendAwaited(send, wish));
    },
  };
}
