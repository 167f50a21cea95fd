import type { DeliveryFigures, Fate, MessageReport, SystemMessageReport } from "../../contract/delivery.ts";
import { toIso, toSeconds } from "../../contract/identifiers.ts";
import { addressOf } from "../../contract/log/log-event.ts";
import type { Message, SystemMessageEvent } from "../../contract/messages/events.ts";
import { readTotals } from "../../contract/messages/reactions.ts";
import type { DeliveryReads, SentEvent, SentMessage, SentReads, StoredDelivery } from "../../store/delivery/ports.ts";
import type { Organizations } from "../../store/ports.ts";
import { createSentEvents } from "./sent-events.ts";

/** Reports the delivery of what was sent. */
export type DeliveryReports = ReturnType<typeof createDeliveryReports>;

type Dependencies = { deliveries: DeliveryReads; sent: SentReads; organizations: Pick<Organizations, "get"> };

/** Creates reports on the store, in which all nodes record their deliveries. */
export function createDeliveryReports({ deliveries, sent, organizations }: Dependencies) {
  const sentEvents = createSentEvents({ sent, organizations });

  async function fatesOf(org: string, { uids = [], offset }: SentEvent, delivered: Set<string>) {
    const known = await sent.usersAt(org, uids, offset);
    const fateOf = (uid: string): Fate => {
      if (delivered.has(uid)) return "delivered";
      return known.has(uid) ? "offline" : "unknown";
    };
    return Object.fromEntries(uids.map((uid) => [uid, fateOf(uid)])); // own properties, even `__proto__`
  }

  return {
    /** Throws `message_not_found`, also for messages of a deleted conversation. */
    async message(org: string, serverMid: string): Promise<MessageReport> {
      const event = await sentEvents.message(org, serverMid);
      const { editedAt, recalledAt, reactions } = event;
      const found = await deliveries.of(org, event.cid, event.offset);
      const acknowledged = usersOf(found, "receipt");
      return {
        message: {
          ...messageOf(event),
          ...(editedAt !== undefined && { edited_at: toIso(editedAt) }),
          ...(reactions !== undefined && { reactions: { total: Object.fromEntries(readTotals(reactions)) } }),
        },
        ...endOf(event),
        key_id: event.keyId,
        delivery: {
          ...figuresOf(event.recipients ?? 0, found, usersOf(found, "delivery"), acknowledged),
          ...(editedAt !== undefined && { acknowledged_before_edit: usersOf(found, "receipt", editedAt).size }),
          ...(recalledAt !== undefined && { acknowledged_before_recall: usersOf(found, "receipt", recalledAt).size }),
        },
      };
    },
    /** Throws `message_not_found`, or `invalid_request` without `senderId` if several senders used that id. */
    async systemMessage(org: string, mid: string, senderId: string | undefined): Promise<SystemMessageReport> {
      const event = await sentEvents.systemMessage(org, mid, senderId);
      const { recalledAt } = event;
      const found = await deliveries.of(org, event.cid, event.offset);
      const delivered = usersOf(found, "delivery");
      // Two senders may have used the acknowledged id, so it counts only for messages that the user was given.
      const acknowledgedBefore = (time?: number) => usersOf(found, "receipt", time).intersection(delivered);
      const recipients = event.recipients ?? (await sent.countUsersAt(org, event.offset));
      const message = systemMessageOf(event, mid);
      const successor = message.key === undefined ? undefined : await sent.successorOf(org, event, message.key);
      return {
        system_message: message,
        ...endOf(event),
        ...(successor !== undefined && { superseded_by: successor }),
        key_id: event.keyId,
        delivery: {
          ...figuresOf(recipients, found, delivered, acknowledgedBefore()),
          ...(recalledAt !== undefined && { acknowledged_before_recall: acknowledgedBefore(recalledAt).size }),
          ...(addressOf(event) === "users" && { by_user: await fatesOf(org, event, delivered) }),
        },
      };
    },
  };
}

/** When it was taken back, or has expired. */
function endOf({ recalledAt, expiredAt }: SentEvent) {
  return {
    ...(recalledAt !== undefined && { recalled_at: toIso(recalledAt) }),
    ...(expiredAt !== undefined && { expired_at: toIso(expiredAt) }),
  };
}

function hasEnded({ recalledAt, expiredAt }: SentEvent): boolean {
  return recalledAt !== undefined || expiredAt !== undefined;
}

/** What is left of a message: all of it, or what its row says if it was taken back or has expired. */
function messageOf(event: SentMessage): MessageReport["message"] {
  const { payload, id, cid, sender, createdAt } = event;
  if (!hasEnded(event)) {
    const { message }: { message: Message } = JSON.parse(payload);
    return message;
  }
  return { _id: id, t: toSeconds(createdAt), from: sender, cid, created_at: toIso(createdAt) };
}

/** What is left of a system message: all of it, or what its row says if it was taken back or has expired. */
function systemMessageOf(event: SentEvent, mid: string): SystemMessageReport["system_message"] {
  const { payload, cid, sender, createdAt } = event;
  if (!hasEnded(event)) {
    const { system_message }: SystemMessageEvent = JSON.parse(payload);
    return system_message;
  }
  return { _id: mid, t: toSeconds(createdAt), from: sender, ...(cid !== undefined && { cid }) };
}

/** The users of deliveries or receipts, of those before a time if there is one. */
function usersOf(
  found: StoredDelivery[],
  kind: StoredDelivery["kind"],
  before = Number.POSITIVE_INFINITY,
): Set<string> {
  return new Set(found.filter((one) => one.kind === kind && one.first < before).flatMap(({ uids }) => uids));
}

function figuresOf(
  recipients: number,
  found: StoredDelivery[],
  delivered: Set<string>,
  acknowledged: Set<string>,
): DeliveryFigures {
  let connections = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const one of found) {
    if (one.kind !== "delivery") continue;
    connections += one.connections;
    first = Math.min(first, one.first);
    last = Math.max(last, one.last);
  }
  return {
    recipients,
    delivered_users: delivered.size,
    delivered_connections: connections,
    acknowledged_users: acknowledged.size,
    first_delivered_at: Number.isFinite(first) ? toIso(first) : null,
    last_delivered_at: Number.isFinite(last) ? toIso(last) : null,
  };
}
