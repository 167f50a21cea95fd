import { revokeSomeKeysOf } from "../keys/keys.ts";
import { removeFirstOf } from "../log/stored-bytes.ts";
import type { Row, Sql, Transaction } from "../sql/driver.ts";
import type { Ordered } from "../sql/key-range.ts";

/**
 * A note that rows of a deleted conversation may be left: its events up to `up_to`. An empty `cid` stands for a whole
 * organization.
 */
type Removal = Row & { org: string; cid: string; up_to: number; removed_at: number };

const wholeOrganization = "";
const find = "SELECT org, cid, up_to, removed_at FROM removal";
const discardBytes = `UPDATE file_bytes SET state = 'unwanted', changed_at = ?
  WHERE id IN (SELECT id FROM file_bytes WHERE org = ? AND state = 'kept' ORDER BY id LIMIT ?)`;

/**
 * Notes that the rows of a deleted conversation, or without `cid` of a deleted organization, are to be removed later in
 * small steps.
 */
export async function leaveToRemoval(
  sql: Sql,
  { org, cid = wholeOrganization, upTo, now }: { org: string; cid?: string; upTo: number; now: number },
): Promise<void> {
  const note = `INSERT INTO removal (org, cid, up_to, removed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (org, cid) DO UPDATE SET up_to = excluded.up_to, removed_at = excluded.removed_at`;
  await sql.run(note, org, cid, upTo, now);
}

/** Removes at most `limit` rows left of a deleted organization. False if nothing was left. */
export async function removeSomeOf(sql: Transaction, org: string, limit: number): Promise<boolean> {
  const findOne = `${find} WHERE org = ? AND cid = ''`;
  const [removal] = await sql.all<Removal>(findOne + sql.dialect.forUpdate, org);
  if (removal === undefined) return false;
  await removeSome(sql, removal, limit);
  return true;
}

/**
 * Removes at most `limit` rows of something deleted: a conversation deleted before a time, or an organization deleted
 * at any time. Returns their number.
 */
export async function removeSomeOfAny(
  sql: Transaction,
  { deletedBefore, limit }: { deletedBefore: number; limit: number },
): Promise<number> {
  const findOne = `${find} WHERE cid = '' OR removed_at < ? ORDER BY org, cid LIMIT 1`;
  // The lock keeps an organization from being created again while this runs.
  const [removal] = await sql.all<Removal>(findOne + sql.dialect.forUpdate, deletedBefore);
  return removal === undefined ? 0 : await removeSome(sql, removal, limit);
}

/** Once no rows are left, deletes the note, which counts as a row. */
async function removeSome(sql: Transaction, removal: Removal, limit: number): Promise<number> {
  const { org, cid, up_to: upTo, removed_at: now } = removal;
  await sql.limitTo([org]);
  // Deleting an organization revokes its keys, unless the node or the database failed meanwhile.
  const revoked = cid === wholeOrganization ? await revokeSomeKeysOf(sql, { org, now, limit }) : 0;
  if (revoked > 0) return revoked;
  const unwanted = cid === wholeOrganization ? await sql.run(discardBytes, now, org, limit) : 0;
  if (unwanted > 0) return unwanted;
  const sets = cid === wholeOrganization ? rowsOfOrganization(org, upTo) : rowsOfConversation(org, cid, upTo);
  const removed = await removeFirstOf(sql, sets, limit);
  if (removed > 0) return removed;
  return await sql.run("DELETE FROM removal WHERE org = ? AND cid = ?", org, cid);
}

function rowsOfConversation(org: string, cid: string, upTo: number): Ordered[] {
  const upToThere = { where: `org = ? AND cid = ? AND "offset" <= ?`, values: [org, cid, upTo] };
  // What was imported since into a conversation that was created again lies before the log, too, and stays.
  const isOfDeleted = (offset: string) =>
    `(${offset} >= 0 OR ${offset} <= COALESCE((SELECT past_start FROM conversation c WHERE c.org = ? AND c.id = ?), 0))`;
  const values = [org, cid, upTo, org, cid];
  const events = { where: `${upToThere.where} AND ${isOfDeleted('"offset"')}`, values };
  return [
    { table: "event", key: [`"offset"`], ...events },
    { table: "message_reaction", key: [`"offset"`, "uid", "reaction"], ...events },
    { table: "hidden_message", key: [`"offset"`, "uid"], ...events },
    { table: "growth", key: ["last_offset", "id"], ...events },
    { table: "delivery", key: ["kind", `"offset"`, "id"], ...upToThere },
    { table: "audience", key: [`"offset"`, "id"], ...upToThere },
    {
      table: "former_participant",
      key: ["uid", "log_start"],
      where: `org = ? AND cid = ? AND log_end <= ? AND ${isOfDeleted("log_end")}`,
      values,
    },
  ];
}

function rowsOfOrganization(org: string, upTo: number): Ordered[] {
  const ofOrganization = { where: "org = ?", values: [org] };
  return [
    { table: "removal", key: ["cid"], where: "org = ? AND cid <> ''", values: [org] }, // the rows below include theirs
    { table: "event", key: [`"offset"`], where: `org = ? AND "offset" <= ?`, values: [org, upTo] },
    { table: "message_reaction", key: ["cid", `"offset"`, "uid", "reaction"], ...ofOrganization },
    { table: "hidden_message", key: ["uid", "cid", `"offset"`], ...ofOrganization },
    { table: "growth", key: ["cid", "last_offset", "id"], ...ofOrganization },
    { table: "delivery", key: ["cid", "kind", `"offset"`, "id"], ...ofOrganization },
    { table: "audience", key: ["cid", `"offset"`, "id"], ...ofOrganization },
    { table: "participant", key: ["cid", "uid"], ...ofOrganization },
    { table: "former_participant", key: ["cid", "uid", "log_start"], ...ofOrganization },
    { table: "conversation", key: ["id"], ...ofOrganization },
    { table: "revoked_token", key: ["uid", "jti"], ...ofOrganization },
    { table: "scheduled_send", key: ["id"], ...ofOrganization },
    { table: "proposal", key: ["id"], ...ofOrganization },
    { table: "attachment", key: ["file_id", "event_id"], ...ofOrganization },
    { table: "file", key: ["id"], ...ofOrganization },
    { table: "schedule", key: ["org"], ...ofOrganization },
    { table: "inbox", key: ["place", `"offset"`], ...ofOrganization },
    { table: "inbox_mark", key: ["uid"], ...ofOrganization },
    { table: "addressee", key: ["place", `"offset"`], ...ofOrganization },
    { table: "addressees", key: ["org"], ...ofOrganization },
    { table: "webhook", key: ["id"], ...ofOrganization },
    { table: "webhook_due", key: [`"offset"`, "webhook"], ...ofOrganization },
    { table: "webhook_delivery", key: ["webhook", "id"], ...ofOrganization },
    { table: "webhook_queue", key: ["webhook"], ...ofOrganization },
    { table: "webhook_presence", key: ["webhook"], ...ofOrganization },
    { table: "webhook_online", key: ["webhook", "uid"], ...ofOrganization },
    { table: `"user"`, key: ["id"], ...ofOrganization },
  ];
}
