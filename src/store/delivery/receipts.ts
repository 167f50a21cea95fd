import type { NewDelivery } from "../../contract/log/deliveries.ts";
import { addressOf } from "../../contract/log/log-event.ts";
import { derivedIdOf, joinIds, timeOfId } from "../../lib/text/ids.ts";
import type { Row, Rows } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import type { NewReceipt } from "./ports.ts";

type EventRow = Row & { org: string; offset: number; id: string; cid: string | null; kind: string };
type SystemRow = EventRow & { mid: string; uids: string | null };
type ParticipantRow = Row & { org: string; cid: string; uid: string; log_start: number };
type UserRow = Row & { org: string; id: string; log_start: number; deleted_at: number | null };

const eventColumns = ["org", "offset", "id", "cid", "kind"];

/** An event that a receipt names, and whom it went to. */
type Named = { event: EventRow; address: ReturnType<typeof addressOf>; uids: ReadonlySet<string> };

/** A user's acknowledgement of an event, and when, in milliseconds since the Unix epoch. */
export type Acknowledged = {
  event: { org: string; offset: number; id: string; cid: string | null };
  uid: string;
  at: number;
};

/**
 * Finds the events that receipts name: a message by its id, a system message by its sender's id for it. Skips receipts of
 * users who are not among the recipients: those listed, those who take part in the conversation since before the event,
 * or those who have been users of the organization since before it.
 */
export async function findAcknowledged(rows: Rows, receipts: NewReceipt[]): Promise<Acknowledged[]> {
  const named = distinctRows(receipts.map(({ org, id }) => ({ org, id })));
  const ids = named.map((key) => ({ ...key, kind: "message" }));
  const mids = named.map(({ org, id }) => ({ org, mid: id, kind: "system" }));
  const [messages, systemMessages] = await Promise.all([
    rows.find<EventRow>("event", eventColumns, ids),
    rows.find<SystemRow>("event", [...eventColumns, "mid", "uids"], mids),
  ]);
  const namedBy = new Map<string, Named[]>();
  const name = (id: string, one: Named) => {
    const key = joinIds(one.event.org, id);
    namedBy.set(key, [...(namedBy.get(key) ?? []), one]);
  };
  for (const event of messages) name(event.id, { event, address: "conversation", uids: new Set() });
  for (const event of systemMessages) name(event.mid, toNamed(event));
  const eventsOf = ({ org, id }: NewReceipt) => namedBy.get(joinIds(org, id)) ?? [];
  const [memberships, users] = await Promise.all([
    findMemberships(rows, receipts, eventsOf),
    findUsers(rows, receipts, eventsOf),
  ]);
  const isRecipient = ({ event: { org, offset, cid }, address, uids }: Named, uid: string): boolean => {
    if (address === "users") return uids.has(uid);
    const since = address === "everyone" ? users.get(joinIds(org, uid)) : memberships.get(joinIds(org, cid ?? "", uid));
    return since !== undefined && Number(offset) > since;
  };

  const acknowledged = new Map<string, Acknowledged>();
  const add = ({ org, offset, id, cid }: EventRow, { uid, at }: NewReceipt) => {
    const key = joinIds(org, id, uid);
    const known = acknowledged.get(key);
    const event = { org, offset: Number(offset), id, cid };
    acknowledged.set(key, { event, uid, at: Math.min(known?.at ?? at, at) });
  };
  for (const receipt of receipts)
    for (const one of eventsOf(receipt)) if (isRecipient(one, receipt.uid)) add(one.event, receipt);
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

function toNamed(event: SystemRow): Named {
  const uids: string[] | undefined = event.uids === null ? undefined : JSON.parse(event.uids);
  return { event, address: addressOf({ cid: event.cid ?? undefined, uids }), uids: new Set(uids) };
}

type EventsOf = (receipt: NewReceipt) => Named[];

/** For each user and conversation named by receipts, the offset from which the user takes part. */
async function findMemberships(rows: Rows, receipts: NewReceipt[], eventsOf: EventsOf): Promise<Map<string, number>> {
  const keys = receipts.flatMap((receipt) =>
    eventsOf(receipt).flatMap(({ address, event: { org, cid } }) =>
      address === "conversation" && cid !== null ? [{ org, cid, uid: receipt.uid }] : [],
    ),
  );
  const found = await rows.find<ParticipantRow>("participant", ["org", "cid", "uid", "log_start"], distinctRows(keys));
  return new Map(found.map(({ org, cid, uid, log_start }) => [joinIds(org, cid, uid), Number(log_start)]));
}

/** For each user who acknowledges what went to everyone, the offset from which the user belongs to the organization. */
async function findUsers(rows: Rows, receipts: NewReceipt[], eventsOf: EventsOf): Promise<Map<string, number>> {
  const keys = receipts.flatMap((receipt) =>
    eventsOf(receipt).some(({ address }) => address === "everyone") ? [{ org: receipt.org, id: receipt.uid }] : [],
  );
  const found = await rows.find<UserRow>("user", ["org", "id", "log_start", "deleted_at"], distinctRows(keys));
  const current = found.filter(({ deleted_at }) => deleted_at === null);
  return new Map(current.map(({ org, id, log_start }) => [joinIds(org, id), Number(log_start)]));
}
