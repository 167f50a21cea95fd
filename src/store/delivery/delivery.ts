import type { NewAudience, NewDelivery, Play } from "../../contract/log/deliveries.ts";
import { rowsOfLists } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { readAudiences } from "../messages/audience.ts";
import type { Driver, Reader, Row, Sql, SqlValue, Transaction } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import { spans } from "./bounds.ts";
import type { DeliveryReads, DeliveryWrites, StoredDelivery } from "./ports.ts";
import { findAcknowledged, receiptOf } from "./receipts.ts";

/** Stands for the conversation of system messages to users and to everyone; no identifier is empty. */
export const noConversation = "";

/** A stored delivery, as `deliveryColumns` read it. */
export type DeliveryRow = Row & {
  kind: NewDelivery["kind"];
  connections: number;
  audience: string | null;
  uids: string | null;
  plays: string;
};

/**
 * Creates the writes of deliveries and receipts. They run beside sends, with which they share no rows. Nothing is
 * written for an organization that does not exist.
 */
export function createDeliveryWrites({ driver }: { driver: Driver }): DeliveryWrites {
  const findLive = `SELECT id FROM organization WHERE deleted_at IS NULL AND id IN (${driver.dialect.givenTexts})`;

  /** Those whose organization exists; from here on the transaction may touch their rows. */
  async function enter<Item extends { org: string }>(sql: Transaction, items: readonly Item[]): Promise<Item[]> {
    const orgs = new Set(items.map(({ org }) => org));
    const found = await sql.all<{ id: string }>(findLive, JSON.stringify([...orgs]));
    const live = new Set(found.map(({ id }) => id));
    await sql.limitTo([...live]);
    return items.filter(({ org }) => live.has(org));
  }

  return {
    async record({ audiences, deliveries }) {
      await driver.aside(async (sql) => {
        const live = await enter(sql, deliveries);
        const orgs = new Set(live.map(({ org }) => org));
        const heard = audiences.filter(({ org }) => orgs.has(org));
        await sql.rows.insert("audience", heard.map(toAudienceRow), "skip");
        await sql.rows.insert("delivery", live.map(toDeliveryRow), "skip");
      });
    },
    async acknowledge(receipts) {
      await driver.aside(async (sql) => {
        const acknowledged = await findAcknowledged(sql.rows, await enter(sql, receipts));
        await sql.rows.insert("delivery", acknowledged.map(receiptOf).map(toDeliveryRow), "skip");
      });
    },
  };
}

/** The columns of a `DeliveryRow`. */
export const deliveryColumns = "kind, connections, audience, uids, plays";

/** The SQL condition that a row may hold a play of an event, with the values of `spanAt`. */
export const inSpan = `org = ? AND cid = ? AND "offset" >= ? AND "offset" < ? AND first_offset <= ?`;

/** The values of `inSpan` for an event. */
export function spanAt(org: string, cid: string, kind: NewDelivery["kind"], offset: number): SqlValue[] {
  return [org, cid, offset, offset + spans[kind], offset];
}

const findDeliveries = `SELECT ${deliveryColumns} FROM delivery WHERE kind = 'delivery' AND ${inSpan}`;
const findReceipts = `SELECT ${deliveryColumns} FROM delivery
  WHERE org = ? AND cid = ? AND kind = 'receipt' AND "offset" = ? AND connections = 1`;

/**
 * Creates the reads of deliveries and receipts. Rows whose audience is gone are ignored: a report claims no more than
 * it can prove.
 */
export function createDeliveryReads({ reader }: { reader: Reader }): DeliveryReads {
  const findGathered = `SELECT ${deliveryColumns} FROM delivery${reader.dialect.indexedBy("delivery_gathered")}
    WHERE kind = 'receipt' AND connections = 0 AND ${inSpan}`;
  return {
    async of(org, cid = noConversation, offset) {
      const found = await Promise.all([
        reader.allOf<DeliveryRow>(org, findDeliveries, ...spanAt(org, cid, "delivery", offset)),
        reader.allOf<DeliveryRow>(org, findReceipts, org, cid, offset),
        reader.allOf<DeliveryRow>(org, findGathered, ...spanAt(org, cid, "receipt", offset)),
      ]);
      return await playsAt(reader, org, found.flat(), offset);
    },
  };
}

/** What rows tell about one event. Those whose audience is gone tell nothing. */
export async function playsAt(
  reader: Reader,
  org: string,
  rows: readonly DeliveryRow[],
  offset: number,
): Promise<StoredDelivery[]> {
  const found = rows.flatMap((row) => {
    const play = decodePlays(row.plays).find(([played]) => played === offset);
    return play === undefined ? [] : [{ ...row, play }];
  });
  const usersOf = await readAudiences(reader, [org], new Set(found.flatMap(({ audience }) => audience ?? [])));
  return found.flatMap(({ kind, connections, audience, uids: listed, play: [, first, last] }) => {
    const uids: readonly string[] | undefined = audience === null ? JSON.parse(listed ?? "[]") : usersOf(audience);
    return uids === undefined ? [] : [{ kind, connections: Number(connections), uids, first, last }];
  });
}

function toAudienceRow({ id, org, cid, offset, parent, added, removed }: NewAudience): Row {
  return {
    org,
    cid: cid ?? noConversation,
    offset,
    id,
    parent: parent ?? null,
    added: JSON.stringify(added),
    removed: JSON.stringify(removed),
  };
}

/** Converts a delivery to its row. */
export function toDeliveryRow({ id, org, cid, kind, connections, audience, uids, plays }: NewDelivery): Row {
  return {
    org,
    cid: cid ?? noConversation,
    offset: plays.at(-1)?.[0] ?? 0,
    id,
    first_offset: plays[0]?.[0] ?? 0,
    kind,
    connections,
    audience: audience ?? null,
    uids: uids === undefined ? null : JSON.stringify(uids),
    plays: encodePlays(plays),
  };
}

/**
 * Encodes plays: the offset and time of the first, then all plays relative to them; the last time is omitted if it
 * equals the first.
 */
function encodePlays(plays: Play[]): string {
  const [beginOffset, beganAt] = plays[0] ?? [0, 0, 0];
  const relative = plays.map(([offset, first, last]) =>
    last === first ? [offset - beginOffset, first - beganAt] : [offset - beginOffset, first - beganAt, last - beganAt],
  );
  return JSON.stringify([beginOffset, beganAt, relative]);
}

/** Decodes the column `plays`. */
export function decodePlays(text: string): Play[] {
  const [beginOffset, beganAt, relative]: [number, number, [number, number, number?][]] = JSON.parse(text);
  return relative.map(([offset, first, last = first]) => [beginOffset + offset, beganAt + first, beganAt + last]);
}

type Gathered = Row & { org: string; cid: string; offset: number; id: string; uids: string; plays: string };
type EventRow = Row & { org: string; offset: number; id: string; cid: string | null };

const findCombined = `SELECT org, cid, "offset", id, uids, plays FROM delivery WHERE kind = 'receipt' AND connections = 0
  ORDER BY org, cid, "offset" LIMIT ${rowsOfLists}`;
const removeCombined = `DELETE FROM delivery WHERE org = ? AND cid = ? AND kind = 'receipt' AND "offset" = ? AND id = ?`;

/**
 * Splits rows written before version 0012, which combine and may repeat many receipts, into one row per event and user:
 * about `limit` receipts per call. Returns the number of rows replaced; 0 when none are left.
 */
export async function foldReceipts(sql: Transaction, limit: number): Promise<number> {
  const rows = await takeSome(sql, limit);
  const receipts = rows.flatMap(({ org, uids, plays }) => {
    const users: string[] = JSON.parse(uids);
    return decodePlays(plays).flatMap(([offset, at]) => users.map((uid) => ({ org, offset, uid, at })));
  });
  const places = distinctRows(receipts.map(({ org, offset }) => ({ org, offset })));
  const found = await sql.rows.find<EventRow>("event", ["org", "offset", "id", "cid"], places);
  const events = new Map(found.map((event) => [joinIds(event.org, event.offset), event]));
  const known = receipts.flatMap(({ org, offset, uid, at }) => {
    const event = events.get(joinIds(org, offset));
    return event === undefined ? [] : [receiptOf({ event: { ...event, offset }, uid, at })];
  });
  const distinct = [...new Map(known.map((receipt) => [receipt.id, receipt])).values()];
  await sql.rows.insert("delivery", distinct.map(toDeliveryRow), "skip");
  for (const { org, cid, offset, id } of rows) await sql.run(removeCombined, org, cid, offset, id);
  return rows.length;
}

/** The first rows that hold `limit` receipts, or a single row if it holds more. */
async function takeSome(sql: Sql, limit: number): Promise<Gathered[]> {
  let receipts = 0;
  const taken: Gathered[] = [];
  for (const row of await sql.all<Gathered>(findCombined)) {
    receipts += JSON.parse(row.uids).length * decodePlays(row.plays).length;
    if (receipts > limit && taken.length > 0) break;
    taken.push(row);
  }
  return taken;
}
