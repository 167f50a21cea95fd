import type { WriteDependencies } from "../log/log-writer.ts";
import { limitToAll } from "../sql/driver.ts";
import { isShown, releaseFiles, removeFiles } from "./files.ts";
import { type FileUpkeep, storedFiles } from "./ports.ts";

type PlaceRow = { event_id: string; org: string; file_id: string; is_shown: number };

const findExpired = "SELECT org FROM file WHERE keep_until < ? ORDER BY keep_until, org, id LIMIT ?";
const isNamed = "EXISTS (SELECT 1 FROM attachment a WHERE a.org = file.org AND a.file_id = file.id)";
// A send may have named a file while its other messages were looked at.
const keepNamed = `UPDATE file SET keep_until = NULL WHERE keep_until < ? AND org = ? AND ${isNamed}`;
const findRemovable = `SELECT ${storedFiles.columns} FROM file WHERE keep_until < ? AND org = ? ORDER BY keep_until, id LIMIT ?`;
// The first condition is that of the index, which holds none of the many rows that are kept.
const findUnwanted = `SELECT id, org FROM file_bytes
  WHERE state <> 'kept' AND (state = 'unwanted' OR (state = 'arriving' AND changed_at < ?))
  ORDER BY state, changed_at, id LIMIT ?`;

/** Creates the upkeep of files. It runs beside sends, and touches few of their rows. */
export function createFileUpkeep({ driver, writer }: WriteDependencies): FileUpkeep {
  const { dialect } = driver;
  const findAttachments = `SELECT event_id, org, file_id, CASE WHEN EXISTS (
      SELECT 1 FROM event e JOIN conversation c ON c.org = e.org AND c.id = e.cid
      WHERE e.id = a.event_id AND e.org = a.org AND ${isShown(dialect)}) THEN 1 ELSE 0 END AS is_shown
    FROM attachment a WHERE (event_id, org, file_id) > (?, ?, ?) ORDER BY event_id, org, file_id LIMIT ?`;

  return {
    release: (after = { eventId: "", org: "", fileId: "" }, { limit, now }) =>
      driver.aside(async (sql) => {
        await limitToAll(sql);
        const found = await sql.all<PlaceRow>(findAttachments, after.eventId, after.org, after.fileId, limit);
        const gone = found.filter(({ is_shown }) => Number(is_shown) === 0);
        for (const [org, rows] of Map.groupBy(gone, (row) => row.org))
          await releaseFiles(sql, { org, eventIds: rows.map(({ event_id }) => event_id), now });
        if (gone.length > 0) sql.forget();
        const last = found.length < limit ? undefined : found.at(-1);
        return last && { eventId: last.event_id, org: last.org, fileId: last.file_id };
      }),
    async expire(now, limit) {
      const found = await driver.aside(async (sql) => {
        await limitToAll(sql);
        return await sql.all<{ org: string }>(findExpired, now, limit);
      });
      for (const org of new Set(found.map((row) => row.org)))
        await writer.transaction([org], async (transaction) => {
          const { sql } = transaction;
          await sql.run(keepNamed, now, org);
          const files = await storedFiles.readAll(sql.all(findRemovable, now, org, limit));
          await removeFiles(transaction, files, now);
        });
      return found.length;
    },
    unwanted: (arrivingBefore, limit) => driver.all(findUnwanted, arrivingBefore, limit),
    async forget(ids) {
      await driver.aside((sql) =>
        sql.run(`DELETE FROM file_bytes WHERE id IN (${dialect.givenTexts})`, JSON.stringify(ids)),
      );
    },
  };
}
