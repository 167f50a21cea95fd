import type { Row, Transaction } from "../sql/driver.ts";

type Counted = Row & { id: string; stored_bytes: number };

const findFirst =
  "SELECT org FROM proposal WHERE state = 'waiting' AND expires_at <= ? ORDER BY expires_at, org LIMIT 1";
const emptied = { state: "expired", request: null, bytes: 0 };
const findOverdue = `SELECT id, bytes, expires_at FROM proposal
  WHERE org = ? AND state = 'waiting' AND expires_at <= ? ORDER BY expires_at, id LIMIT ?`;

/**
 * Notes of at most `limit` proposals of one organization that their time was over by `now`, and drops what they propose. Returns their
 * number. Locks the organization first, as decisions do.
 */
export async function expireSomeProposals(
  sql: Transaction,
  { now, limit }: { now: number; limit: number },
): Promise<number> {
  const [first] = await sql.all<{ org: string }>(findFirst, now);
  if (first === undefined) return 0;
  const { org } = first;
  const [organization] = await sql.rows.lock<Counted>("organization", ["id", "stored_bytes"], [{ id: org }]);
  const rows = await sql.all<{ id: string; bytes: number; expires_at: number }>(findOverdue, org, now, limit);
  const ended = rows.map(({ id, expires_at }) => ({ ...emptied, org, id, ended_at: Number(expires_at) }));
  await sql.rows.update("proposal", ["org", "id"], ended);
  const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
  if (organization !== undefined) {
    const left = Math.max(0, Number(organization.stored_bytes) - bytes);
    await sql.rows.update("organization", ["id"], [{ id: org, stored_bytes: left }]);
  }
  return rows.length;
}
