import { toSeconds } from "../../contract/identifiers.ts";
import type { SystemMessageEvent } from "../../contract/messages/events.ts";
import type { SendSystemMessageRequest, SendSystemMessageResponse } from "../../contract/messages/messages.ts";
import { sortInTurns } from "../../lib/event-loop/sort-in-turns.ts";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../../store/ports.ts";
import type { WaitWish } from "../delivery/awaited-sends.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";
import { type AwaitedSending, appendAwaited, fingerprintOf, type Sent, type Stored } from "./messages.ts";

/** Sends system messages to lists of users, to conversations and to everyone. */
export type SystemMessages = {
  /**
   * Stores the system message, then delivers it to those of its recipients who are online. Retries and wishes work as for
   * messages.
   */
  send(caller: Caller, request: SendSystemMessageRequest, wish?: WaitWish): Promise<Sent<SendSystemMessageResponse>>;
};

/**
 * Converts a request to the send to append. Recipients know a system message by its `mid`, so an id that the server
 * assigns identifies the send like a caller's. Throws if the caller's key does not allow it. Thousands of recipients
 * are sorted in turns of the event loop.
 */
export async function toSystemSend(
  caller: Caller,
  { organizationId, senderId, messageSystem: { id: givenMid, x, uids: givenUids, cid } }: SendSystemMessageRequest,
  createdAt: number,
): Promise<NewSend & { mid: string; uids: string[] }> {
  permitOrganization(caller, organizationId);
  permitSender(caller, senderId);
  const id = createId();
  const mid = givenMid ?? id;
  const { uids, sorted } = await toDistinct(givenUids ?? []);
  const recipients = givenUids !== undefined ? sorted : cid !== undefined ? { cid } : "everyone";
  const event: SystemMessageEvent = {
    system_message: { _id: mid, t: toSeconds(createdAt), from: senderId, x, ...(cid !== undefined && { cid }) },
  };
  return {
    org: organizationId,
    kind: "system",
    id,
    cid,
    sender: senderId,
    mid,
    fingerprint: fingerprintOf([x, recipients]),
    payload: JSON.stringify(event),
    uids,
    createdAt,
    keyId: caller.keyId,
  };
}

/** The ids without duplicates, in the given order, and all distinct ones sorted. */
async function toDistinct(given: string[]): Promise<{ uids: string[]; sorted: string[] }> {
  const sorted = await sortInTurns(given);
  return { uids: sorted.length === given.length ? given : [...new Set(given)], sorted };
}

/** The answer to a system message that is stored. */
export function toSystemAnswer(
  { mid }: { mid: string },
  { outcome, createdAt, waited }: Stored,
): Sent<SendSystemMessageResponse> {
  return { body: { ack: { mid, t: toSeconds(createdAt) } }, isReplay: outcome === "replayed", waited };
}

/** Creates system messages on the log. */
export function createSystemMessages(sending: AwaitedSending): SystemMessages {
  return {
    async send(caller, request, wish) {
      const send = await toSystemSend(caller, request, sending.clock.now());
      return toSystemAnswer(send, await appendAwaited(sending, send, wish));
    },
  };
}
