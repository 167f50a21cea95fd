import type { Entity, EntityPage } from "../ports.ts";
import type { Reader } from "../sql/driver.ts";

/** The columns of an organization, a user or a conversation; of a user also since when it is blocked. */
export type EntityRow = { id: string; name: string | null; created_at: number; blocked_at?: number | null };

/** The entity that a row holds. */
export function toEntity(row: EntityRow): Entity {
  const { id, name, created_at, blocked_at } = row;
  return { id, name, createdAt: Number(created_at), ...(blocked_at != null && { isBlocked: true }) };
}

/** The SQL condition that an organization is not deleted; what a deleted one held may still be there. */
export function isLiveOrganization(column: string): string {
  return `EXISTS (SELECT 1 FROM organization live WHERE live.id = ${column} AND live.deleted_at IS NULL)`;
}

type Table = { table: "conversation" | '"user"'; columns: string; isLive: string };

/** Reads the entities of an organization from a table; `isLive` is the SQL condition of those that are not deleted. */
export function createEntityReads(reader: Reader, { table, columns, isLive: isLiveEntity }: Table) {
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
