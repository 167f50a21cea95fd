import type { Reader, Row } from "../sql/driver.ts";

type AudienceRow = Row & { id: string; parent: string | null; added: string; removed: string };

/**
 * Reads audiences of organizations. The returned function gives the users of one: all changes since the first ancestor,
 * applied. `undefined` if part of the chain is gone.
 */
export async function readAudiences(
  reader: Reader,
  orgs: readonly string[],
  ids: ReadonlySet<string>,
): Promise<(id: string) => readonly string[] | undefined> {
  const { givenTexts } = reader.dialect;
  // Each ancestor once, however many have it.
  const find = `WITH RECURSIVE chain (org, id, parent, added, removed) AS (
      SELECT org, id, parent, added, removed FROM audience WHERE id IN (${givenTexts}) AND org IN (${givenTexts})
      UNION
      SELECT a.org, a.id, a.parent, a.added, a.removed FROM chain JOIN audience a ON a.id = chain.parent AND a.org = chain.org
    )
    SELECT id, parent, added, removed FROM chain`;
  const rows =
    ids.size === 0 ? [] : await reader.allOf<AudienceRow>(orgs, find, JSON.stringify([...ids]), JSON.stringify(orgs));
  const audiences = new Map(rows.map((row) => [row.id, row]));
  const known = new Map<string, readonly string[]>();

  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const chain: AudienceRow[] = [];
    for (let next: string | null = id; next !== null; ) {
      const audience = audiences.get(next);
      if (audience === undefined) return undefined;
      chain.push(audience);
      next = audience.parent;
    }
    const users = new Set<string>();
    for (const { added, removed } of chain.reverse()) {
      for (const uid of JSON.parse(removed) as string[]) users.delete(uid);
      for (const uid of JSON.parse(added) as string[]) users.add(uid);
    }
    const found = [...users];
    known.set(id, found);
    return found;
  };
}
