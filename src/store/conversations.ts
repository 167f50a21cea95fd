import { type MembershipOf, recordMembership } from "./control-events.ts";
import type { Driver, Reader } from "./driver.ts";
import { createEntityReads, type EntityRow, toEntity } from "./entity.ts";
import type { LogTransaction, LogWriter } from "./log-writer.ts";
import type { ConversationReads, ConversationWrites } from "./ports.ts";
import { leaveToRemoval } from "./removals.ts";
import { ensureUsers } from "./users.ts";

const find = "SELECT id, name, created_at FROM conversation WHERE org = ? AND id = ?";

type Dependencies = { driver: Driver; writer: LogWriter };

/** Writes conversations. A conversation made again begins with an empty history. */
export function createConversationWrites({ driver, writer }: Dependencies): ConversationWrites {
  const textsOf = driver.dialect.textsOf("?");
  const join = `INSERT INTO participant (org, cid, uid, created_at, log_start)
    SELECT ?, ?, uid.value, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM (${textsOf}) AS uid WHERE true ON CONFLICT DO NOTHING`;

  async function replaceParticipants(
    transaction: LogTransaction,
    change: MembershipOf,
    wanted: string[],
  ): Promise<void> {
    const { sql, heads } = transaction;
    const { org, cid, now } = change;
    const head = heads.get(org) ?? 0;
    const rows = await sql.all<{ uid: string }>("SELECT uid FROM participant WHERE org = ? AND cid = ?", org, cid);
    const before = new Set(rows.map(({ uid }) => uid));
    const after = new Set(wanted);
    const added = [...after].filter((uid) => !before.has(uid));
    const removed = [...before].filter((uid) => !after.has(uid));
    await ensureUsers(driver, sql, { org, uids: added, head, now });
    await sql.run(join, org, cid, now, head, JSON.stringify(added));
    await sql.run(
      `DELETE FROM participant WHERE org = ? AND cid = ? AND uid IN (${textsOf})`,
      org,
      cid,
      JSON.stringify(removed),
    );
    await recordMembership(transaction, change, { added, removed });
  }

  return {
    async put(org, cid, { name, participants }, now) {
      return await writer.transaction([org], async (transaction) => {
        const { sql, heads } = transaction;
        const head = heads.get(org);
        if (head === undefined) return undefined;
        const [row] = await sql.all<EntityRow>(find, org, cid);
        if (row === undefined) {
          await sql.run(
            "INSERT INTO conversation (org, id, name, log_start, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
            org,
            cid,
            name ?? null,
            head,
            now,
            now,
          );
        } else if (name !== undefined) {
          await sql.run("UPDATE conversation SET name = ? WHERE org = ? AND id = ?", name, org, cid);
        }
        if (participants !== undefined) await replaceParticipants(transaction, { org, cid, now }, participants);
        const entity = toEntity(row ?? { id: cid, name: null, created_at: now });
        return { entity: { ...entity, name: name === undefined ? entity.name : name }, isNew: row === undefined };
      });
    },
    async remove(org, cid, now) {
      return await writer.transaction([org], async (transaction) => {
        const { sql, heads } = transaction;
        const upTo = heads.get(org);
        if (upTo === undefined || (await sql.all(find, org, cid)).length === 0) return false;
        await leaveToRemoval(sql, { org, cid, upTo, now });
        await replaceParticipants(transaction, { org, cid, now }, []);
        await sql.run("DELETE FROM conversation WHERE org = ? AND id = ?", org, cid);
        return true;
      });
    },
  };
}

/** Reads conversations. */
export function createConversationReads({ reader }: { reader: Reader }): ConversationReads {
  return createEntityReads(reader, { table: "conversation", columns: "id, name, created_at", isLive: "true" });
}
