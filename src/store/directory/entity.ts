import type { Entity, EntityPage } from "../ports.ts";
import type { Reader } from "../sql/driver.ts";

/** The columns of an organization, user or conversation; `blocked_at` only of a user. */
export type EntityRow = { id: string; name: string | null; created_at: number; blocked_at?: number | null };

/** Converts a row to an entity. */
export function toEntity(row: EntityRow): Entity {
  const { id, name, created_at, blocked_at } = row;
  return { id, name, createdAt: Number(created_at), ...(blocked_at != null && { isBlocked: true }) };
}

/** The SQL condition that an organization is not deleted, as rows of a deleted one may still exist. */
export function isLiveOrganization(column: string): string {
  return `EXISTS (SELECT 1 FROM organization live WHERE live.id = ${column} AND live.deleted_at IS NULL)`;
}

/** A table of entities, its columns, and the SQL condition for those that are not deleted. */
export type EntityTable = { table: "conversation" | '"user"'; columns: string; isLive: string };

/** Creates the reads of one kind of entity; `isLive` is the SQL condition for entities that are not deleted. */
export function createEntityReads(reader: Reader, { table, columns, isLive: isLiveEntity }: EntityTable) {
  const isLive = `${isLiveEntity} AND ${isLiveOrganization("org")}`;
  const find = `SELECT ${columns} FROM ${table} WHERE org = ? AND id = ? AND ${isLive}`;
  const page = `SELECT ${columns} FROM ${table} WHERE org = ? AND id > ? AND ${isLive} ORDER BY id LIMIT ?`;
  return {
    async get(org: string, id: string): Promise<Entity | undefined> {
      const [row] = await reader.allOf<EntityRow>(org, find, org, id);
      return row && toEntity(row);
    },
    async list(org: string, { after, limit }: EntityPage): Promise<Entity[]> {
      return (await reader.allOf<EntityRow>(org, page, org, after ?? "", limit)).map(toEntity);
    },
  };
}
