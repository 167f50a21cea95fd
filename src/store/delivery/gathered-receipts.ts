import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Row, Sql, Transaction } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import { decodePlays, toDeliveryRow } from "./delivery.ts";
import { receiptOf } from "./receipts.ts";

type Gathered = Row & { org: string; cid: string; offset: number; id: string; uids: string; plays: string };
type EventRow = Row & { org: string; offset: number; id: string; cid: string | null };

const rowsAtOnce = 50;
const find = `SELECT org, cid, "offset", id, uids, plays FROM delivery WHERE kind = 'receipt' AND connections = 0
  ORDER BY org, cid, "offset" LIMIT ${rowsAtOnce}`;
const remove = `DELETE FROM delivery WHERE org = ? AND cid = ? AND kind = 'receipt' AND "offset" = ? AND id = ?`;

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
  for (const { org, cid, offset, id } of rows) await sql.run(remove, org, cid, offset, id);
  return rows.length;
}

/** The first rows that hold `limit` receipts, or a single row if it holds more. */
async function takeSome(sql: Sql, limit: number): Promise<Gathered[]> {
  let receipts = 0;
  const taken: Gathered[] = [];
  for (const row of await sql.all<Gathered>(find)) {
    receipts += JSON.parse(row.uids).length * decodePlays(row.plays).length;
    if (receipts > limit && taken.length > 0) break;
    taken.push(row);
  }
  return taken;
}
