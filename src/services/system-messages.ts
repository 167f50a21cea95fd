import type { SystemMessageEvent } from "../contract/events.ts";
import { toSeconds } from "../contract/identifiers.ts";
import type { SendSystemMessageRequest, SendSystemMessageResponse } from "../contract/messages.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { SendLog } from "../store/ports.ts";
import { fingerprintOf, requireStored, type Sent } from "./messages.ts";
import { type Caller, permitOrganization, permitSender } from "./permissions.ts";

/** Sends system messages to lists of users. */
export type SystemMessages = {
  /** Stores the system message; those of its `uids` who are online hear it after that. Retries as for messages. */
  send(caller: Caller, request: SendSystemMessageRequest): Promise<Sent<SendSystemMessageResponse>>;
};

/**
 * System messages over the log. Recipients know one by its `mid`, so the id that the server assigns identifies the send
 * as a caller's would.
 */
export function createSystemMessages({ sends, clock }: { sends: SendLog; clock: Clock }): SystemMessages {
  return {
    async send(caller, { organizationId, senderId, messageSystem: { id: givenMid, x, uids: givenUids } }) {
      permitOrganization(caller, organizationId);
      permitSender(caller, senderId);
      const id = createId();
      const mid = givenMid ?? id;
      const createdAt = clock.now();
      const uids = [...new Set(givenUids)];
      const event: SystemMessageEvent = { system_message: { _id: mid, t: toSeconds(createdAt), from: senderId, x } };
      const result = await sends.append({
        org: organizationId,
        kind: "system",
        id,
        cid: undefined,
        sender: senderId,
        mid,
        fingerprint: fingerprintOf([x, uids.toSorted()]),
        payload: JSON.stringify(event),
        uids,
        createdAt,
        keyId: caller.keyId,
      });
      const stored = requireStored(result);
      return { answer: { ack: { mid, t: toSeconds(stored.createdAt) } }, isReplay: stored.isReplay };
    },
  };
}
