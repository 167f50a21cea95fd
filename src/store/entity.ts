import type { Entity } from "./ports.ts";

/** The columns of an organization, a user or a conversation. */
export type EntityRow = { id: string; name: string | null; created_at: number };

/** The entity that a row holds. */
export function toEntity(row: EntityRow): Entity {
  return { id: row.id, name: row.name, createdAt: Number(row.created_at) };
}
