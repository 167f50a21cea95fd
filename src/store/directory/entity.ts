import { createCasePrefix } from "../../lib/text/case-prefixes.ts";
import type { Entity, EntityReads, Found, PrefixPage, PrefixPlace } from "../ports.ts";
import type { Reader } from "../sql/driver.ts";
import { createRowReads } from "../sql/mapping.ts";

const mostSeeks = 64; // a page may end before its limit where ids or names have very many forms
const afterAll = "\u{10ffff}".repeat(64);

/** The columns of an organization, user or conversation; `blocked_at` only of a user. */
export type EntityRow = { id: string; name: string | null; created_at: number; blocked_at?: number | null };

/** Converts a row to an entity. */
export function toEntity(row: EntityRow): Entity {
  const { id, name, created_at, blocked_at } = row;
  return { id, name, createdAt: Number(created_at), ...(blocked_at != null && { isBlocked: true }) };
}

/** The reads of entities. */
export const entities = createRowReads(toEntity);

/** The SQL condition that an organization is not deleted, as rows of a deleted one may still exist. */
export function isLiveOrganization(column: string): string {
  return `EXISTS (SELECT 1 FROM organization live WHERE live.id = ${column} AND live.deleted_at IS NULL)`;
}

/** A table of entities, its columns, and the SQL condition for those that are not deleted. */
type EntityTable = { table: "conversation" | '"user"'; columns: string; isLive: string };

/** Creates the reads of one kind of entity; `isLive` is the SQL condition for entities that are not deleted. */
export function createEntityReads(reader: Reader, { table, columns, isLive: isLiveEntity }: EntityTable): EntityReads {
  const isLive = `${isLiveEntity} AND ${isLiveOrganization("org")}`;
  const findOne = `SELECT ${columns} FROM ${table} WHERE org = ? AND id = ? AND ${isLive}`;
  const page = `SELECT ${columns} FROM ${table} WHERE org = ? AND id > ? AND ${isLive} ORDER BY id LIMIT ?`;
  return {
    get: (org, id) => entities.readFirst(reader.allOf(org, findOne, org, id)),
    list: (org, { after = "", limit }) => entities.readAll(reader.allOf(org, page, org, after, limit)),
    find: createPrefixRead(reader, { table, columns, isLive }),
  };
}

/**
 * Creates the read of entities whose id or name begins with a text, ignoring case. Reads ranges of the indexes of ids and names,
 * and skips from what does not match to what may. Folding in SQL would depend on the engine, and with row-level security
 * PostgreSQL uses no index for it, as `lower` may reveal rows that a policy hides.
 */
function createPrefixRead(reader: Reader, { table, columns, isLive }: EntityTable) {
  const byId = `SELECT ${columns} FROM ${table} WHERE org = ? AND id >= ? AND id < ? AND ${isLive} ORDER BY id LIMIT ?`;
  const byName = `SELECT ${columns} FROM ${table}
    WHERE org = ? AND name IS NOT NULL AND (name, id) > (?, ?) AND name < ? AND ${isLive} ORDER BY name, id LIMIT ?`;

  return async (org: string, { prefix, after, limit }: PrefixPage): Promise<Found> => {
    const wanted = createCasePrefix(prefix);
    const end = wanted.end ?? afterAll;
    const found: EntityRow[] = [];
    let place: PrefixPlace | undefined = after ?? { by: "id", key: wanted.first, id: "" };
    for (let seeks = 0; place !== undefined && found.length < limit && seeks < mostSeeks; seeks++) {
      const { by, key, id }: PrefixPlace = place;
      const most = limit - found.length;
      const rows: EntityRow[] =
        by === "id"
          ? await reader.allOf<EntityRow>(org, byId, org, key, end, most)
          : await reader.allOf<EntityRow>(org, byName, org, key, id, end, most);
      const textOf = (row: EntityRow): string => (by === "id" ? row.id : (row.name ?? ""));
      const wrong = rows.findIndex((row) => !wanted.matches(textOf(row)));
      const right = wrong === -1 ? rows : rows.slice(0, wrong);
      found.push(...(by === "id" ? right : right.filter((row) => !wanted.matches(row.id)))); // those came before
      const last = rows.at(-1);
      const strange = rows[wrong];
      const nextKey: string | undefined = strange && wanted.next(textOf(strange));
      if (nextKey !== undefined) place = { by, key: nextKey, id: "" };
      else if (strange === undefined && last !== undefined && rows.length === most)
        place = by === "id" ? { by, key: `${last.id}\u0001`, id: "" } : { by, key: textOf(last), id: last.id };
      else place = by === "id" ? { by: "name", key: wanted.first, id: "" } : undefined;
    }
    return { entities: found.map(toEntity), next: place };
  };
}
