import type { Dialect } from "./dialect.ts";
import type { Row, Sql, Transaction } from "./driver.ts";
import { type Ordered, removeFirst } from "./remove-first.ts";
import { removeFirstEvents } from "./stored-bytes.ts";

/** What of a deleted conversation is still stored: its events up to an offset. `cid` `""`: all of a deleted organization. */
type Removal = Row & { org: string; cid: string; up_to: number };

const wholeOrganization = "";

/** Leaves what a deleted conversation, or without `cid` organization, holds to be removed later, in small steps. */
export async function leaveToRemoval(
  sql: Sql,
  { org, cid = wholeOrganization, upTo, now }: { org: string; cid?: string; upTo: number; now: number },
): Promise<void> {
  if (cid === wholeOrganization) await sql.run("DELETE FROM removal WHERE org = ?", org);
  await sql.run(
    `INSERT INTO removal (org, cid, up_to, removed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (org, cid) DO UPDATE SET up_to = excluded.up_to, removed_at = excluded.removed_at`,
    org,
    cid,
    upTo,
    now,
  );
}

/** Removes at most `limit` rows of what an organization held before it was deleted. False when nothing was left of it. */
export async function removeSomeOf(
  sql: Transaction,
  { forUpdate }: Dialect,
  org: string,
  limit: number,
): Promise<boolean> {
  const find = "SELECT org, cid, up_to FROM removal WHERE org = ? AND cid = ''";
  const [removal] = await sql.all<Removal>(find + forUpdate, org);
  if (removal === undefined) return false;
  await removeSome(sql, removal, limit);
  return true;
}

/** Removes at most `limit` rows of what was deleted: conversations before a time, organizations at once. Gives their number. */
export async function removeSomeOfAny(
  sql: Transaction,
  { forUpdate }: Dialect,
  { deletedBefore, limit }: { deletedBefore: number; limit: number },
): Promise<number> {
  const find = "SELECT org, cid, up_to FROM removal WHERE cid = '' OR removed_at < ? ORDER BY org, cid LIMIT 1";
  // The lock keeps an organization from being made again before this is through.
  const [removal] = await sql.all<Removal>(find + forUpdate, deletedBefore);
  return removal === undefined ? 0 : await removeSome(sql, removal, limit);
}

/** When nothing was left the removal itself goes, which counts as a row. */
async function removeSome(sql: Transaction, { org, cid, up_to: upTo }: Removal, limit: number): Promise<number> {
  await sql.limitTo([org]);
  for (const rows of cid === wholeOrganization ? rowsOfOrganization(org, upTo) : rowsOfConversation(org, cid, upTo)) {
    const remove = rows.table === "event" ? removeFirstEvents : removeFirst;
    const removed = await remove(sql, rows, limit);
    if (removed > 0) return removed;
  }
  return await sql.run("DELETE FROM removal WHERE org = ? AND cid = ?", org, cid);
}

function rowsOfConversation(org: string, cid: string, upTo: number): Ordered[] {
  const upToThere = { where: `org = ? AND cid = ? AND "offset" <= ?`, values: [org, cid, upTo] };
  return [
    { table: "event", key: [`"offset"`], ...upToThere },
    { table: "delivery", key: ["kind", `"offset"`, "id"], ...upToThere },
    { table: "audience", key: [`"offset"`, "id"], ...upToThere },
  ];
}

function rowsOfOrganization(org: string, upTo: number): Ordered[] {
  const ofOrganization = { where: "org = ?", values: [org] };
  return [
    { table: "event", key: [`"offset"`], where: `org = ? AND "offset" <= ?`, values: [org, upTo] },
    { table: "delivery", key: ["cid", "kind", `"offset"`, "id"], ...ofOrganization },
    { table: "audience", key: ["cid", `"offset"`, "id"], ...ofOrganization },
    { table: "participant", key: ["cid", "uid"], ...ofOrganization },
    { table: "conversation", key: ["id"], ...ofOrganization },
    { table: "revoked_token", key: ["uid", "jti"], ...ofOrganization },
    { table: `"user"`, key: ["id"], ...ofOrganization },
  ];
}
