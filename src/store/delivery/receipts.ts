import { derivedIdOf, timeOfId } from "../../lib/text/ids.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Row, Rows } from "../sql/driver.ts";
import type { NewDelivery, NewReceipt } from "./ports.ts";

type EventRow = Row & { org: string; offset: number; id: string; cid: string | null; kind: string };
type SystemRow = EventRow & { mid: string; uids: string };
type ParticipantRow = Row & { org: string; cid: string; uid: string; log_start: number };

/** A user's acknowledgement of an event, and when, in milliseconds since the Unix epoch. */
export type Acknowledged = {
  event: { org: string; offset: number; id: string; cid: string | null };
  uid: string;
  at: number;
};

/**
 * Finds the events that receipts name: a message by its id, if the user was a participant when it was sent; a system
 * message by its sender's id for it, if the user is among its recipients. Other receipts are skipped.
 */
export async function findAcknowledged(rows: Rows, receipts: NewReceipt[]): Promise<Acknowledged[]> {
  const named = distinct(receipts.map(({ org, id }) => ({ org, id })));
  const [messages, systemMessages] = await Promise.all([
    rows.find<EventRow>(
      "event",
      ["org", "offset", "id", "cid", "kind"],
      named.map((key) => ({ ...key, kind: "message" })),
    ),
    rows.find<SystemRow>(
      "event",
      ["org", "offset", "id", "cid", "kind", "mid", "uids"],
      named.map(({ org, id }) => ({ org, mid: id, kind: "system" })),
    ),
  ]);
  const messageOf = new Map(messages.map((event) => [joinIds(event.org, event.id), event]));
  const systemOf = new Map<string, { event: SystemRow; uids: Set<string> }[]>();
  for (const event of systemMessages) {
    const key = joinIds(event.org, event.mid);
    systemOf.set(key, [...(systemOf.get(key) ?? []), { event, uids: new Set<string>(JSON.parse(event.uids)) }]);
  }
  const memberships = await findMemberships(rows, receipts, messageOf);

  const acknowledged = new Map<string, Acknowledged>();
  const add = ({ org, offset, id, cid }: EventRow, { uid, at }: NewReceipt) => {
    const key = joinIds(org, id, uid);
    const known = acknowledged.get(key);
    const event = { org, offset: Number(offset), id, cid };
    acknowledged.set(key, { event, uid, at: Math.min(known?.at ?? at, at) });
  };
  for (const receipt of receipts) {
    const { org, uid, id } = receipt;
    const message = messageOf.get(joinIds(org, id));
    const since = message && memberships.get(joinIds(org, message.cid ?? "", uid));
    if (message !== undefined && since !== undefined && Number(message.offset) > since) add(message, receipt);
    for (const { event, uids } of systemOf.get(joinIds(org, id)) ?? []) if (uids.has(uid)) add(event, receipt);
  }
  return [...acknowledged.values()];
}

/**
 * Converts an acknowledgement to a row whose id is derived from event and user, so that repeated acknowledgements on
 * any number of nodes make one row.
 */
export function receiptOf({ event, uid, at }: Acknowledged): NewDelivery {
  const { org, offset, cid } = event;
  return {
    id: receiptIdOf(event, uid),
    org,
    cid: cid ?? undefined,
    kind: "receipt",
    connections: 1,
    audience: undefined,
    uids: [uid],
    plays: [[offset, at, at]],
  };
}

/** The id of the row of a user's receipt of an event. */
export function receiptIdOf({ org, id }: { org: string; id: string }, uid: string): string {
  return derivedIdOf(timeOfId(id), joinIds(org, id, uid));
}

/** For each user and conversation named by receipts, the offset from which the user takes part. */
async function findMemberships(
  rows: Rows,
  receipts: NewReceipt[],
  messageOf: Map<string, EventRow>,
): Promise<Map<string, number>> {
  const keys = receipts.flatMap(({ org, uid, id }) => {
    const cid = messageOf.get(joinIds(org, id))?.cid;
    return cid === undefined || cid === null ? [] : [{ org, cid, uid }];
  });
  const found = await rows.find<ParticipantRow>("participant", ["org", "cid", "uid", "log_start"], distinct(keys));
  return new Map(found.map(({ org, cid, uid, log_start }) => [joinIds(org, cid, uid), Number(log_start)]));
}

function distinct<Key extends Row>(keys: Key[]): Key[] {
  return [...new Map(keys.map((key) => [joinIds(...Object.values(key).map(String)), key])).values()];
}
