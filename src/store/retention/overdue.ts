import { timeOfId } from "../../lib/text/ids.ts";
import type { Reader, Row } from "../sql/driver.ts";
import type { RetentionReads } from "./ports.ts";

type Found = Row & { id: string };
type Deleted = Row & { organization: number | null; conversation: number | null };

// The first rows of indexes, and a table of what is deleted: none of it takes longer the more messages there are.
const findDeleted = `SELECT MIN(CASE WHEN cid = '' THEN removed_at END) AS organization,
  MIN(CASE WHEN cid <> '' THEN removed_at END) AS conversation FROM removal`;
const findEvent = "SELECT id FROM event ORDER BY id LIMIT 1";
const findRetryId = "SELECT id FROM event WHERE id > (SELECT ids_after FROM retention) ORDER BY id LIMIT 1";
const findAudit = "SELECT id FROM audit ORDER BY id LIMIT 1";

/** Creates the retention reads. */
export function createRetentionReads({ reader }: { reader: Reader }): RetentionReads {
  async function waitOf(find: Promise<Found[]>, before: number): Promise<number> {
    const [row] = await find;
    return row === undefined ? 0 : Math.max(0, before - timeOfId(row.id));
  }

  return {
    async now() {
      const [row] = await reader.all<{ now: number }>(reader.dialect.readTime);
      return Number(row?.now ?? 0);
    },
    async overdue({ now, messagesBefore, idsBefore, auditBefore, deletedBefore }) {
      const [deleted] = await reader.all<Deleted>(findDeleted);
      const { organization, conversation } = deleted ?? {};
      return {
        deleted: Math.max(
          0,
          organization == null ? 0 : now - Number(organization),
          conversation == null ? 0 : deletedBefore - Number(conversation),
        ),
        messages: messagesBefore === undefined ? 0 : await waitOf(reader.allOfEvery(findEvent), messagesBefore),
        ids: idsBefore === undefined ? 0 : await waitOf(reader.allOfEvery(findRetryId), idsBefore),
        audit: auditBefore === undefined ? 0 : await waitOf(reader.all(findAudit), auditBefore),
      };
    },
  };
}
