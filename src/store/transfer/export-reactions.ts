import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { importedKind, isOfConversation } from "../log/past.ts";
import type { Reader, Row } from "../sql/driver.ts";
import type { ReactionExportReads } from "./ports.ts";

type ReactionRow = Row & { uid: string; reaction: string };
type OwnRow = Row & { cid: string; offset: number; reaction: string; id: string; mid: string | null; kind: string };

const readTo = `SELECT uid, reaction FROM message_reaction WHERE org = ? AND cid = ? AND "offset" = ? AND (uid, reaction) > (?, ?)
  ORDER BY uid, reaction LIMIT ${rowsOfStatement}`;
const readOf = `SELECT r.cid, r."offset", r.reaction, e.id, e.mid, e.kind FROM message_reaction r
  JOIN event e ON e.org = r.org AND e."offset" = r."offset"
  JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation}
  WHERE r.org = ? AND r.uid = ? AND (r.cid, r."offset", r.reaction) > (?, ?, ?) ORDER BY r.cid, r."offset", r.reaction LIMIT ${rowsOfStatement}`;

/** Creates the reads of reactions for exports. */
export function createReactionExportReads({ reader }: { reader: Reader }): ReactionExportReads {
  return {
    async reactionsTo(
      { org },
      { importId: mid, cid, offset },
      { uid = "", reaction = "" } = { uid: "", reaction: "" },
    ) {
      const rows = await reader.allOf<ReactionRow>(org, readTo, org, cid, offset, uid, reaction);
      return rows.map((row) => ({ mid, sender: row.uid, reaction: row.reaction }));
    },
    async reactionsOf({ org }, uid, after) {
      const { cid = "", offset = Number.MIN_SAFE_INTEGER, reaction = "" } = after ?? {};
      const rows = await reader.allOf<OwnRow>(org, readOf, org, uid, cid, offset, reaction);
      const last = rows.at(-1);
      const reactions = rows.map(({ id, mid, kind, reaction }) => ({
        mid: kind === importedKind ? (mid ?? id) : id,
        sender: uid,
        reaction,
      }));
      return { reactions, last: last && { cid: last.cid, offset: Number(last.offset), reaction: last.reaction, uid } };
    },
  };
}
