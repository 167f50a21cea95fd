import type { Reader, Row } from "../sql/driver.ts";

type AudienceRow = Row & { parent: string | null; added: string; removed: string };

const readChain = `WITH RECURSIVE chain (id, parent, added, removed, depth) AS (
    SELECT id, parent, added, removed, 0 FROM audience WHERE id = ? AND org = ?
    UNION ALL
    SELECT a.id, a.parent, a.added, a.removed, chain.depth + 1 FROM chain JOIN audience a ON a.id = chain.parent AND a.org = ?
  )
  SELECT parent, added, removed FROM chain ORDER BY depth DESC`;

/**
 * Creates the function that reads the users of an audience, by applying all changes since its first ancestor.
 * `undefined` if part of the chain is gone.
 */
export function createAudienceReader(reader: Reader) {
  return async (org: string, id: string): Promise<string[] | undefined> => {
    const chain = await reader.allOf<AudienceRow>(org, readChain, id, org, org);
    const [first, ...changes] = chain;
    if (first?.parent !== null) return undefined;
    if (changes.length === 0) return JSON.parse(first.added);
    const users = new Set<string>();
    for (const { added, removed } of chain) {
      for (const uid of JSON.parse(removed) as string[]) users.delete(uid);
      for (const uid of JSON.parse(added) as string[]) users.add(uid);
    }
    return [...users];
  };
}
