import { rowsOfStep } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import { forgetInbox } from "../inbox/inbox-writes.ts";
import { requireKey } from "../keys/keys.ts";
import { allSessionsOf, emitSessionEnd, recordLeaving } from "../log/control-events.ts";
import type { LogTransaction, WriteDependencies } from "../log/log-writer.ts";
import type { UserReads, UserWrites } from "../ports.ts";
import type { Reader } from "../sql/driver.ts";
import { inSteps } from "../sql/steps.ts";
import { createEntityReads, type EntityRow, entities, isLiveOrganization, toEntity } from "./entity.ts";
import { keepFormer } from "./former-participants.ts";
import { type Start, startIn } from "./starts.ts";

const columns = "id, name, created_at, blocked_at";
const find = `SELECT ${columns} FROM "user" WHERE org = ? AND id = ? AND deleted_at IS NULL`;
const findDeletedToo = `SELECT ${columns}, deleted_at FROM "user" WHERE org = ? AND id = ?`;
const findValidAfter = `SELECT tokens_valid_after FROM organization WHERE id = ?
  UNION ALL SELECT tokens_valid_after FROM "user" WHERE org = ? AND id = ?`;
const revoke =
  "INSERT INTO revoked_token (org, uid, jti, id) VALUES (?, ?, ?, ?) ON CONFLICT (org, uid, jti) DO NOTHING";
const isAbsent = `ON CONFLICT (org, id) DO UPDATE
  SET name = NULL, created_at = excluded.created_at, log_start = excluded.log_start, past_start = excluded.past_start, log_end = NULL, deleted_at = NULL, seen_at = NULL WHERE "user".deleted_at IS NOT NULL`;

/** Users to create, and when, in milliseconds since the Unix epoch. */
export type NewUsers = { org: string; uids: readonly string[]; now: number };

/** Creates those of `uids` who are not users yet. A deleted user starts anew, but old tokens stay refused. */
export async function ensureUsers(transaction: LogTransaction, { org, uids, now }: NewUsers): Promise<void> {
  if (uids.length === 0) return;
  const { sql } = transaction;
  const { log_start, past_start } = startIn(transaction, org);
  const insert = `INSERT INTO "user" (org, id, created_at, log_start, past_start)
    SELECT ?, uid.value, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT) FROM (${sql.dialect.givenTexts}) AS uid WHERE true ${isAbsent}`;
  await sql.run(insert, org, now, log_start, past_start, JSON.stringify(uids));
}

/**
 * Creates the writes of users. The row of a deleted user stays, so that tokens issued before the deletion are refused
 * for ever.
 */
export function createUserWrites({ driver, writer }: WriteDependencies): UserWrites {
  const markSeen = `UPDATE "user" SET seen_at = ?
    WHERE org = ? AND id IN (${driver.dialect.givenTexts}) AND deleted_at IS NULL`;
  return {
    put: (org, uid, name, now, isBlocked, by) =>
      writer.change(org, undefined, async (transaction) => {
        const { sql } = transaction;
        const [found] = await sql.all<EntityRow & { deleted_at: number | null }>(findDeletedToo, org, uid);
        const isNew = found === undefined || found.deleted_at !== null;
        if (isNew) await ensureUsers(transaction, { org, uids: [uid], now });
        const before = { blocked_at: found?.blocked_at ?? null };
        const row = isNew ? { id: uid, name: null, created_at: now, ...before } : found;
        if (name !== undefined) await sql.run(`UPDATE "user" SET name = ? WHERE org = ? AND id = ?`, name, org, uid);
        const after = isBlocked === undefined ? before : { blocked_at: isBlocked ? (before.blocked_at ?? now) : null };
        if (after.blocked_at !== before.blocked_at) {
          await sql.run(`UPDATE "user" SET blocked_at = ? WHERE org = ? AND id = ?`, after.blocked_at, org, uid);
          if (isBlocked) emitSessionEnd(transaction, { org, now }, allSessionsOf(uid));
        }
        await requireKey(sql, by);
        return { entity: toEntity({ ...row, ...after, name: name === undefined ? row.name : name }), isNew };
      }),
    async ensure(users, now) {
      const uidsOf = Map.groupBy(users, ({ org }) => org);
      await writer.transaction([...uidsOf.keys()], async (transaction) => {
        for (const [org, ofOrg] of uidsOf) {
          const uids = [...new Set(ofOrg.map(({ uid }) => uid))].sort(); // in one order, so that no two transactions deadlock
          if (transaction.heads.has(org)) await ensureUsers(transaction, { org, uids, now });
        }
      });
    },
    async remove(org, uid, now) {
      let hasBegun = false;
      return await inSteps(() =>
        writer.change(org, hasBegun, async (transaction, head) => {
          const { sql } = transaction;
          if ((await sql.all(find, org, uid)).length === 0) return hasBegun;
          hasBegun = true;
          if (!(await leaveSome(transaction, { org, uid, now }))) return "more";
          await forgetInbox(transaction, org, uid);
          await sql.run(`UPDATE "user" SET deleted_at = ?, log_end = ? WHERE org = ? AND id = ?`, now, head, org, uid);
          await endSessions(transaction, org, uid, now);
          return true;
        }),
      );
    },
    async noteSeen(seen, at) {
      await driver.aside(async (sql) => {
        await sql.limitTo(seen.map(({ org }) => org));
        for (const { org, uids } of seen) {
          const keys = uids.map((id) => ({ org, id }));
          await sql.rows.lock("user", ["org", "id"], keys); // in one order, so that no two nodes wait for each other
          await sql.run(markSeen, at, org, JSON.stringify(uids));
        }
      });
    },
    endSessions: (org, uid, now) =>
      writer.change(org, false, async (transaction) => {
        const { sql } = transaction;
        if ((await sql.all(find, org, uid)).length === 0) return false;
        await endSessions(transaction, org, uid, now);
        return true;
      }),
    revokeToken: (org, uid, jti, now) =>
      writer.change(org, false, async (transaction) => {
        const { sql } = transaction;
        if ((await sql.all(find, org, uid)).length === 0) return false;
        const isNew = (await sql.run(revoke, org, uid, jti, createId(now))) > 0;
        if (isNew) emitSessionEnd(transaction, { org, now }, { uids: [uid], issuedBefore: -1, token: jti }); // of no other token
        return true;
      }),
  };
}

/** Creates the reads of users. */
export function createUserReads({ reader }: { reader: Reader }): UserReads {
  const findAmong = `SELECT ${columns} FROM "user" WHERE org = ? AND id IN (${reader.dialect.givenTexts})
    AND deleted_at IS NULL AND ${isLiveOrganization("org")} ORDER BY id`;
  const findSeen = `SELECT id, seen_at FROM "user" WHERE org = ? AND id IN (${reader.dialect.givenTexts})
    AND deleted_at IS NULL AND seen_at IS NOT NULL`;
  return {
    ...createEntityReads(reader, { table: '"user"', columns, isLive: "deleted_at IS NULL" }),
    among: (org, ids) => entities.readAll(reader.allOf(org, findAmong, org, JSON.stringify(ids))),
    async tokensValidAfter(org, uid) {
      const rows = await reader.allOf<{ tokens_valid_after: number }>(org, findValidAfter, org, org, uid);
      return Math.max(0, ...rows.map((row) => Number(row.tokens_valid_after)));
    },
    async seenAmong(org, ids) {
      const rows = await reader.allOf<{ id: string; seen_at: number }>(org, findSeen, org, JSON.stringify(ids));
      return new Map(rows.map(({ id, seen_at }) => [id, Number(seen_at)]));
    },
  };
}

/** Removes a user from as many conversations as one step may. True once none are left. */
async function leaveSome(
  transaction: LogTransaction,
  { org, uid, now }: { org: string; uid: string; now: number },
): Promise<boolean> {
  const { sql } = transaction;
  const some = "SELECT cid FROM participant WHERE org = ? AND uid = ? ORDER BY cid LIMIT ?";
  const rows = await sql.all<{ cid: string }>(some, org, uid, rowsOfStep + 1);
  const cids = rows.slice(0, rowsOfStep).map(({ cid }) => cid);
  const leave = "DELETE FROM participant WHERE org = ? AND uid = ? AND cid <= ? RETURNING cid, log_start, past_start";
  const left = await sql.all<{ cid: string } & Start>(leave, org, uid, cids.at(-1) ?? "");
  const leaving = left.map((row) => ({ ...row, uid }));
  keepFormer(transaction, { org, now }, leaving);
  await recordLeaving(transaction, { org, uid, cids, now });
  return rows.length <= rowsOfStep;
}

/** Never moves the time back: an earlier sign-out may carry the later clock of another node. */
async function endSessions(transaction: LogTransaction, org: string, uid: string, now: number): Promise<void> {
  const { sql } = transaction;
  const later = `UPDATE "user" SET tokens_valid_after = ? WHERE org = ? AND id = ? AND tokens_valid_after < ?`;
  await sql.run(later, now, org, uid, now);
  emitSessionEnd(transaction, { org, now }, { uids: [uid], issuedBefore: now });
}
