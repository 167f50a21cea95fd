import { invalidKey, unavailable } from "../../contract/errors/errors.ts";
import { rowsOfStatement, rowsOfStep } from "../../lib/queues/steps.ts";
import { requireKey, revokeSomeKeysOf } from "../keys/keys.ts";
import { emitSessionEnd } from "../log/control-events.ts";
import type { WriteDependencies } from "../log/log-writer.ts";
import { storedBytes } from "../log/stored-bytes.ts";
import { type OrganizationReads, type OrganizationWrites, type OwnLimits, ownLimits, type Put } from "../ports.ts";
import type { Reader, Row, Transaction } from "../sql/driver.ts";
import { inSteps } from "../sql/steps.ts";
import { type EntityRow, entities, toEntity } from "./entity.ts";
import { leaveToRemoval, removeSomeOf } from "./removals.ts";

const find = "SELECT id, name, created_at FROM organization WHERE id = ? AND deleted_at IS NULL";
const findPage =
  "SELECT id, name, created_at FROM organization WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?";
const insert = `INSERT INTO organization (id, name, created_at) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_at = excluded.created_at, deleted_at = NULL
  WHERE organization.deleted_at IS NOT NULL`;

// Recounts the bytes of an organization that is created again: of the deleted one, only the event that ended it is
// left.
const count = `UPDATE organization SET counted_to = head,
  stored_bytes = (SELECT COALESCE(SUM(${storedBytes}), 0) FROM event WHERE event.org = organization.id) WHERE id = ?`;

const findBudgets = `SELECT id, ${ownLimits.columns}, stored_bytes FROM organization WHERE deleted_at IS NULL`;

const stepsOfPut = 200;

/**
 * Creates the writes of organizations. The row of a deleted one stays, so that offsets are never reused and its tokens
 * stay refused. Its contents are removed later in small steps; creating it again removes what is left first, so that it
 * begins empty.
 */
export function createOrganizationWrites({ driver, writer }: WriteDependencies): OrganizationWrites {
  /** Revokes keys: if created again, an organization of the same id may belong to someone else. */
  const revokeSome = (sql: Transaction, org: string, now: number) =>
    revokeSomeKeysOf(sql, { org, now, limit: rowsOfStep });

  /**
   * Revokes more keys until none are left. Stops if the organization was created again: that revoked the rest first, so
   * that only new keys are left.
   */
  async function revokeMore(sql: Transaction, org: string, now: number): Promise<true | "more"> {
    const isStillDeleted = `SELECT id FROM organization WHERE id = ? AND deleted_at = ?${driver.dialect.forUpdate}`;
    if ((await sql.all(isStillDeleted, org, now)).length === 0) return true;
    await sql.limitTo([org]);
    return (await revokeSome(sql, org, now)) < rowsOfStep ? true : "more";
  }

  return {
    async put(org, name, now, limits = {}, by) {
      for (let step = 0; step < stepsOfPut; step++) {
        const put = await driver.transaction(
          async (sql): Promise<Put | undefined> => {
            const [row] = await sql.all<EntityRow>(find, org);
            if (row !== undefined) {
              if (name !== undefined) await sql.run("UPDATE organization SET name = ? WHERE id = ?", name, org);
              await setLimits(sql, org, limits);
              await requireKey(sql, by);
              return { entity: toEntity({ ...row, name: name === undefined ? row.name : name }), isNew: false };
            }
            if (by !== undefined && by.org !== null) throw invalidKey(); // its organization was deleted, and it with that
            if (await removeSomeOf(sql, org, rowsOfStatement)) return undefined;
            const isNew = (await sql.run(insert, org, name ?? null, now)) > 0;
            if (!isNew) return undefined; // created meanwhile by another node; the next attempt finds it
            await sql.limitTo([org]);
            await sql.run(count, org);
            await setLimits(sql, org, limits);
            await requireKey(sql, by);
            return { entity: { id: org, name: name ?? null, createdAt: now }, isNew };
          },
          { of: org },
        );
        if (put !== undefined) return put;
      }
      throw unavailable({
        detail: "the data of a deleted organization with this id is still being removed; try again",
      });
    },
    async remove(org, now) {
      const isRemoved = await writer.change(org, false, async (transaction, upTo) => {
        const { sql } = transaction;
        const end = "UPDATE organization SET deleted_at = ?, tokens_valid_after = ?, webhooks = NULL WHERE id = ?";
        await sql.run(end, now, now, org);
        await leaveToRemoval(sql, { org, upTo, now });
        await revokeSome(sql, org, now);
        emitSessionEnd(transaction, { org, now }, { issuedBefore: now });
        return true;
      });
      if (isRemoved) await inSteps(() => driver.transaction((sql) => revokeMore(sql, org, now), { of: org }));
      return isRemoved;
    },
  };
}

async function setLimits(sql: Transaction, org: string, limits: Partial<OwnLimits>): Promise<void> {
  if (Object.keys(limits).length === 0) return;
  await sql.rows.update("organization", ["id"], [{ id: org, ...ownLimits.write(limits) }]);
}

/** Creates the reads of organizations. */
export function createOrganizationReads({ reader }: { reader: Reader }): OrganizationReads {
  return {
    get: (org) => entities.readFirst(reader.all(find, org)),
    list: ({ after = "", limit }) => entities.readAll(reader.all(findPage, after, limit)),
    async budgets(orgs) {
      const ofThese = `${findBudgets} AND id IN (${reader.dialect.givenTexts})`;
      const rows = await reader.all<Row & { id: string; stored_bytes: number }>(ofThese, JSON.stringify(orgs));
      return rows.map((row) => ({ id: row.id, limits: ownLimits.read(row), storedBytes: Number(row.stored_bytes) }));
    },
  };
}
