import { emitSessionEnd } from "./control-events.ts";
import type { Driver, Reader } from "./driver.ts";
import { type EntityRow, toEntity } from "./entity.ts";
import { revokeKeysOf } from "./keys.ts";
import type { LogWriter } from "./log-writer.ts";
import type { OrganizationReads, OrganizationWrites } from "./ports.ts";

const find = "SELECT id, name, created_at FROM organization WHERE id = ? AND deleted_at IS NULL";
const insert = `INSERT INTO organization (id, name, created_at) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_at = excluded.created_at, deleted_at = NULL
  WHERE organization.deleted_at IS NOT NULL`;

type Dependencies = { driver: Driver; writer: LogWriter };

/** Writes organizations. The row of a deleted one stays, so that its log's offsets are never given twice and its tokens stay refused. */
export function createOrganizationWrites({ driver, writer }: Dependencies): OrganizationWrites {
  return {
    async put(org, name, now) {
      return await driver.transaction(async (sql) => {
        for (;;) {
          const [row] = await sql.all<EntityRow>(find, org);
          if (row !== undefined) {
            if (name !== undefined) await sql.run("UPDATE organization SET name = ? WHERE id = ?", name, org);
            return { entity: toEntity({ ...row, name: name === undefined ? row.name : name }), isNew: false };
          }
          const isNew = (await sql.run(insert, org, name ?? null, now)) > 0;
          if (isNew) return { entity: { id: org, name: name ?? null, createdAt: now }, isNew };
          // Another node has made it meanwhile; the attempt has locked it, so it is found now.
        }
      });
    },
    async remove(org, now) {
      return await writer.transaction([org], async (transaction) => {
        const { sql, heads } = transaction;
        if (!heads.has(org)) return false;
        for (const table of ["participant", "conversation", `"user"`, "event"])
          await sql.run(`DELETE FROM ${table} WHERE org = ?`, org);
        await sql.run("UPDATE organization SET deleted_at = ?, tokens_valid_after = ? WHERE id = ?", now, now, org);
        await revokeKeysOf(driver, sql, org, now); // made again under the same id it may be somebody else's
        emitSessionEnd(transaction, { org, now });
        return true;
      });
    },
  };
}

/** Reads organizations. */
export function createOrganizationReads({ reader }: { reader: Reader }): OrganizationReads {
  return {
    async get(org) {
      const [row] = await reader.all<EntityRow>(find, org);
      return row && toEntity(row);
    },
    async list({ after, limit }) {
      const rows = await reader.all<EntityRow>(
        "SELECT id, name, created_at FROM organization WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?",
        after ?? "",
        limit,
      );
      return rows.map(toEntity);
    },
  };
}
