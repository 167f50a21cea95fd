import { unavailable } from "../contract/errors.ts";
import { emitSessionEnd } from "./control-events.ts";
import type { Driver, Reader } from "./driver.ts";
import { type EntityRow, toEntity } from "./entity.ts";
import { revokeKeysOf } from "./keys.ts";
import type { LogWriter } from "./log-writer.ts";
import type { OrganizationReads, OrganizationWrites, Put } from "./ports.ts";
import { leaveToRemoval, removeSomeOf } from "./removals.ts";

const find = "SELECT id, name, created_at FROM organization WHERE id = ? AND deleted_at IS NULL";
const insert = `INSERT INTO organization (id, name, created_at) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_at = excluded.created_at, deleted_at = NULL
  WHERE organization.deleted_at IS NOT NULL`;

const rowsOfStep = 500;
const stepsOfPut = 200;

type Dependencies = { driver: Driver; writer: LogWriter };

/**
 * Writes organizations. The row of a deleted one stays, so that its log's offsets are never given twice and its tokens stay
 * refused. What it held is left to be removed in small steps; who makes it again goes through the rest of them first, so that
 * it begins empty.
 */
export function createOrganizationWrites({ driver, writer }: Dependencies): OrganizationWrites {
  return {
    async put(org, name, now) {
      for (let step = 0; step < stepsOfPut; step++) {
        const put = await driver.transaction(async (sql): Promise<Put | undefined> => {
          const [row] = await sql.all<EntityRow>(find, org);
          if (row !== undefined) {
            if (name !== undefined) await sql.run("UPDATE organization SET name = ? WHERE id = ?", name, org);
            return { entity: toEntity({ ...row, name: name === undefined ? row.name : name }), isNew: false };
          }
          if (await removeSomeOf(sql, driver.dialect, org, rowsOfStep)) return undefined;
          const isNew = (await sql.run(insert, org, name ?? null, now)) > 0;
          // Else another node has made it meanwhile, and it is found the next time.
          return isNew ? { entity: { id: org, name: name ?? null, createdAt: now }, isNew } : undefined;
        });
        if (put !== undefined) return put;
      }
      throw unavailable({ detail: "what a deleted organization of this id held is still being removed; try again" });
    },
    async remove(org, now) {
      return await writer.transaction([org], async (transaction) => {
        const { sql, heads } = transaction;
        const upTo = heads.get(org);
        if (upTo === undefined) return false;
        await sql.run("UPDATE organization SET deleted_at = ?, tokens_valid_after = ? WHERE id = ?", now, now, org);
        await leaveToRemoval(sql, { org, upTo, now });
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
