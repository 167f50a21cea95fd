import { z } from "zod";
import type { Resource, User } from "../contract/directory.ts";
import { invalidRequest } from "../contract/errors/errors.ts";
import { toIso } from "../contract/identifiers.ts";
import { decodeCursor, encodeCursor } from "../lib/text/cursor.ts";
import type { Entity, EntityPage, Found, PrefixPage } from "../store/ports.ts";

/** The paging parameters of a list. */
export type PageQuery = { limit: number; cursor?: string | undefined };

/** A page of a list. */
export type Page<Item> = { items: Item[]; cursor: string | null };

/** Converts an entity to its form in the admin API. */
export function toResource({ id, name, createdAt }: Entity): Resource {
  return { id, name, created_at: toIso(createdAt) };
}

/** Converts a user to its form in the admin API. */
export function toUser(entity: Entity): User {
  return { ...toResource(entity), ...(entity.isBlocked && { blocked: true }) };
}

/** Decodes and validates a cursor; throws `invalid_request` for one that Herald did not issue. `pointer`: the parameter that has it. */
export function parseCursor<Place>(
  cursor: string | undefined,
  place: z.ZodType<Place>,
  pointer = "/cursor",
): Place | undefined {
  if (cursor === undefined) return undefined;
  const parsed = place.safeParse(decodeCursor(cursor));
  if (parsed.success) return parsed.data;
  const detail = "must be the `cursor` of the previous page, unchanged";
  throw invalidRequest(pointer, detail, "the cursor is not one that Herald returned");
}

/** Cuts a list that was read with one extra item into a page, with the next cursor made from its last item. */
export function toPage<Item, Shown>(
  read: Item[],
  limit: number,
  show: (item: Item) => Shown,
  placeOf: (item: Item) => unknown,
): Page<Shown> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  const cursor = read.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null;
  return { items: items.map(show), cursor };
}

/** A place in a list by id. */
export const idPlace = z.strictObject({ id: z.string() });

/** A page of items by id. Items added or removed between two pages shift no others. */
export async function pageOf<Item extends { id: string }, Shown>(
  { limit, cursor }: PageQuery,
  read: (page: EntityPage) => Promise<Item[]>,
  show: (item: Item) => Shown,
): Promise<Page<Shown>> {
  const after = parseCursor(cursor, idPlace)?.id;
  return toPage(await read({ after, limit: limit + 1 }), limit, show, ({ id }) => ({ id }));
}

const prefixPlace = z.strictObject({ by: z.enum(["id", "name"]), key: z.string(), id: z.string() });

/** The paging parameters of a list that may be of what begins with a text. */
export type PrefixQuery = PageQuery & { prefix?: string | undefined };

type MatchReads = {
  list(org: string, page: EntityPage): Promise<Entity[]>;
  find(org: string, page: PrefixPage): Promise<Found>;
};

/** A page of an organization's entities by id, or with `prefix` of those whose id or name begins with it. */
export async function pageOfMatches<Shown>(
  { prefix, ...query }: PrefixQuery,
  org: string,
  reads: MatchReads,
  show: (entity: Entity) => Shown,
): Promise<Page<Shown>> {
  if (prefix === undefined) return await pageOf(query, (page) => reads.list(org, page), show);
  const after = parseCursor(query.cursor, prefixPlace);
  const { entities, next } = await reads.find(org, { prefix, after, limit: query.limit });
  return { items: entities.map(show), cursor: next === undefined ? null : encodeCursor(next) };
}
