import type { AcquaintanceReads } from "../ports.ts";
import type { Reader } from "../sql/driver.ts";
import { type EntityRow, entities, isLiveOrganization } from "./entity.ts";

type UserRow = EntityRow & { seen_at: number | null };

/** Creates the reads of who knows whom. */
export function createAcquaintanceReads({ reader }: { reader: Reader }): AcquaintanceReads {
  const { textsOf } = reader.dialect;
  const shares = `EXISTS (SELECT 1 FROM participant mine WHERE mine.org = u.org AND mine.uid = ?
    AND EXISTS (SELECT 1 FROM participant theirs WHERE theirs.org = mine.org AND theirs.cid = mine.cid AND theirs.uid = u.id))`;
  const findAmong = `SELECT u.id, u.name, u.created_at, u.seen_at FROM "user" u
    WHERE u.org = ? AND u.id IN (${textsOf("?")}) AND u.deleted_at IS NULL AND (u.id = ? OR ${shares})
      AND ${isLiveOrganization("u.org")} ORDER BY u.id`;
  const findOwn = `SELECT cid FROM participant WHERE org = ? AND uid = ? AND cid IN (${textsOf("?")})
    AND ${isLiveOrganization("org")} ORDER BY cid`;
  const find = (org: string, uid: string, ids: readonly string[]) =>
    reader.allOf<UserRow>(org, findAmong, org, JSON.stringify(ids), uid, uid);
  return {
    among: (org, uid, ids) => entities.readAll(find(org, uid, ids)),
    async lastSeen(org, uid, other) {
      const [row] = await find(org, uid, [other]);
      return row && Number(row.seen_at ?? row.created_at);
    },
    async conversationsAmong(org, uid, cids) {
      const rows = await reader.allOf<{ cid: string }>(org, findOwn, org, uid, JSON.stringify(cids));
      return rows.map(({ cid }) => cid);
    },
  };
}
