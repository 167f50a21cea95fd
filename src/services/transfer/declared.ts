import { joinIds } from "../../lib/text/ids.ts";
import type { ImportItem } from "../../store/transfer/ports.ts";

type Entity = Extract<ImportItem, { kind: "user" | "conversation" }>;

const mostDeclared = 1_000_000; // in memory; from then on, all that is named counts as declared

/** Creates a list of the users and conversations that the lines of a dry run declare, as it stores none. */
export function createDeclared() {
  const keys = new Set<string>();
  return {
    /** Those that the items name, and that were declared before. */
    namedBy(items: readonly ImportItem[]): Entity[] {
      const named = new Map(items.flatMap(namesOf).map((entity) => [keyOf(entity), entity]));
      return [...named].flatMap(([key, entity]) => (keys.has(key) || keys.size >= mostDeclared ? [entity] : []));
    },
    /** Adds those that the items declare. */
    add(items: readonly ImportItem[]): void {
      for (const entity of items.flatMap(declaredBy)) if (keys.size < mostDeclared) keys.add(keyOf(entity));
    },
  };
}

const user = (id: string): Entity => ({ kind: "user", id, name: undefined, isBlocked: undefined });
const keyOf = ({ kind, id }: Entity) => joinIds(kind, id);

function namesOf(item: ImportItem): Entity[] {
  const cids = "cid" in item && item.cid !== undefined ? [item.cid] : [];
  const uids = usersNamedBy(item);
  return [...cids.map((id): Entity => ({ kind: "conversation", id, name: undefined })), ...uids.map(user)];
}

function usersNamedBy(item: ImportItem): string[] {
  if (item.kind === "system_message") return item.recipients;
  if (item.kind === "recipients") return item.uids;
  return "uid" in item ? [item.uid] : [];
}

function declaredBy(item: ImportItem): Entity[] {
  if (item.kind === "participants") return item.uids.map(user);
  return item.kind === "user" || item.kind === "conversation" ? [item] : [];
}
