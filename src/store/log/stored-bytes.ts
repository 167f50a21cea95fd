import type { Row, Transaction } from "../sql/driver.ts";
import { deletionOf, lastOfFirst, type Ordered, removeFirst } from "../sql/key-range.ts";
import { forgetAnswers } from "../webhooks/answers.ts";

/** The SQL expression for the counted bytes of an event: its payload and its list of recipients. */
export const storedBytes = "OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0)";

type Removed = { org: string; offset: number; id: string; bytes: number };
type Counted = Row & { id: string; head: number; stored_bytes: number; counted_to: number };

const countedColumns = ["id", "head", "stored_bytes", "counted_to"];
const findUncounted = "SELECT id FROM organization WHERE counted_to < head AND deleted_at IS NULL ORDER BY id LIMIT 1";

/** Deletes the first `limit` rows of the first of these sets that has any, and returns their number. */
export async function removeFirstOf(sql: Transaction, sets: readonly Ordered[], limit: number): Promise<number> {
  for (const rows of sets) {
    const remove = rows.table === "event" ? removeFirstEvents(sql, rows, limit) : removeFirst(sql, rows, limit);
    const removed = await remove;
    if (removed > 0) return removed;
  }
  return 0;
}

/**
 * Like `removeFirst` for the table `event`. Removes what receivers of webhooks answered to posts about these events, too, and
 * subtracts the events from their organizations' counts.
 * Organizations are locked last and in the order that sends use, so that sends never wait for the deletion and no two
 * transactions deadlock.
 */
async function removeFirstEvents(sql: Transaction, rows: Ordered, limit: number): Promise<number> {
  const last = await lastOfFirst(sql, rows, limit);
  if (last === undefined) return 0;
  const removed = await sql.all<Removed>(
    `${deletionOf(rows)} RETURNING org, "offset", id, ${storedBytes} AS bytes`,
    ...rows.values,
    ...last,
  );
  const orgs = [...new Set(removed.map(({ org }) => org))].sort();
  const keys = orgs.map((id) => ({ id }));
  const counted = await sql.rows.lock<Counted>("organization", countedColumns, keys);
  const left = counted.map(({ id, stored_bytes, counted_to }) => {
    const gone = removed.filter(({ org, offset }) => org === id && Number(offset) <= Number(counted_to));
    const bytes = gone.reduce((sum, event) => sum + Number(event.bytes), 0);
    return { id, stored_bytes: Math.max(0, Number(stored_bytes) - bytes) };
  });
  await sql.rows.update("organization", ["id"], left);
  for (const org of orgs) {
    const eventIds = removed.flatMap((event) => (event.org === org ? [event.id] : []));
    await forgetAnswers(sql, { org, eventIds });
  }
  return removed.length;
}

/**
 * Counts at most `limit` events of one organization that were not counted when stored, by a version that keeps no
 * count. Returns their number; 0 when nothing is left to count.
 */
export async function countSomeEvents(sql: Transaction, limit: number): Promise<number> {
  const [found] = await sql.all<{ id: string }>(findUncounted);
  if (found === undefined) return 0;
  const [log] = await sql.rows.lock<Counted>("organization", countedColumns, [found]);
  if (log === undefined) return 0;
  await sql.limitTo([log.id]);
  const [next] = await sql.all<{ last: number | null; events: number; bytes: number | null }>(
    `SELECT MAX("offset") AS last, COUNT(*) AS events, SUM(bytes) AS bytes
     FROM (SELECT "offset", ${storedBytes} AS bytes FROM event WHERE org = ? AND "offset" > ? ORDER BY "offset" LIMIT ?) AS next`,
    log.id,
    Number(log.counted_to),
    limit,
  );
  const events = Number(next?.events ?? 0);
  const countedTo = events < limit ? Number(log.head) : Number(next?.last); // offsets without an event were removed
  const bytes = Number(log.stored_bytes) + Number(next?.bytes ?? 0);
  await sql.rows.update("organization", ["id"], [{ id: log.id, stored_bytes: bytes, counted_to: countedTo }]);
  return Math.max(1, events);
}
