import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { withinBytes } from "../log/page-bytes.ts";
import { importedKind, isMessageOf, isOfConversation } from "../log/past.ts";
import { lasts } from "../messages/expiry-rule.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Row } from "../sql/driver.ts";
import type { ExportedEntity, ExportedParticipant, ExportReads } from "./ports.ts";

type EntityRow = Row & { id: string; name: string | null; blocked_at: number | null };
type MessageRow = Row & { offset: number; id: string; mid: string | null; kind: string; payload: string | null };

const bytesOfPage = 256 * 1024;

const readUsers = `SELECT id, name, blocked_at FROM "user"
  WHERE org = ? AND id > ? AND deleted_at IS NULL AND log_start <= ? ORDER BY id LIMIT ?`;
const readConversations = `SELECT id, name, NULL AS blocked_at FROM conversation
  WHERE org = ? AND id > ? AND log_start <= ? ORDER BY id LIMIT ?`;
const readConversationsOf = `SELECT c.id, c.name, NULL AS blocked_at FROM participant p
  JOIN conversation c ON c.org = p.org AND c.id = p.cid
  WHERE p.org = ? AND p.uid = ? AND p.cid > ? AND p.log_start <= ? ORDER BY p.cid LIMIT ?`;
const readParticipantsBetween = `SELECT cid, uid FROM participant
  WHERE org = ? AND cid > ? AND cid <= ? AND log_start <= ? ORDER BY cid, uid LIMIT ?`;
const readParticipantsAfter = `SELECT cid, uid FROM participant
  WHERE org = ? AND cid = ? AND uid > ? AND log_start <= ? ORDER BY uid LIMIT ?`;

// Events of all kinds, so that a page costs a page, however few messages there are.
const page = (isWanted: string) =>
  withinBytes(
    `SELECT "offset", CASE WHEN ${isWanted} THEN OCTET_LENGTH(payload) ELSE 0 END AS bytes
     FROM event WHERE org = ? AND "offset" > ? AND "offset" <= ? ORDER BY "offset" LIMIT ${rowsOfStatement}`,
    { maxBytes: bytesOfPage },
  );
const readMessages = (dialect: Dialect, isWanted: string) =>
  `SELECT e."offset", e.id, e.mid, e.kind, CASE WHEN c.id IS NOT NULL AND ${lasts(dialect, "e")} THEN e.payload END AS payload
   FROM event e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isWanted} AND ${isOfConversation}
   WHERE e.org = ? AND e."offset" > ? AND e."offset" <= (SELECT MAX("offset") FROM (${page(isMessageOf("event"))}) AS fitting)
   ORDER BY e."offset"`;

/** Creates the reads of exports. */
export function createExportReads({ reader }: { reader: Reader }): ExportReads {
  const readAll = readMessages(reader.dialect, isMessageOf("e"));
  const readWritten = readMessages(reader.dialect, `${isMessageOf("e")} AND e.sender = ?`);
  return {
    users: async ({ org, head }, after, limit) =>
      (await reader.allOf<EntityRow>(org, readUsers, org, after, head, limit)).map(toEntity),
    async conversations({ org, head }, after, limit, uid) {
      const rows =
        uid === undefined
          ? await reader.allOf<EntityRow>(org, readConversations, org, after, head, limit)
          : await reader.allOf<EntityRow>(org, readConversationsOf, org, uid, after, head, limit);
      return rows.map(toEntity);
    },
    participantsBetween: ({ org, head }, after, upTo, limit) =>
      reader.allOf<ExportedParticipant>(org, readParticipantsBetween, org, after, upTo, head, limit),
    participantsAfter: ({ org, head }, { cid, uid }, limit) =>
      reader.allOf<ExportedParticipant>(org, readParticipantsAfter, org, cid, uid, head, limit),
    async messages({ org, head }, after, sender) {
      const range = [org, after, org, after, head];
      const rows =
        sender === undefined
          ? await reader.allOf<MessageRow>(org, readAll, ...range)
          : await reader.allOf<MessageRow>(org, readWritten, sender, ...range);
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      // Payloads of what was taken back are empty.
      const messages = rows.flatMap(({ id, mid, kind, payload }) =>
        payload === null || payload === "" ? [] : [{ importId: kind === importedKind ? (mid ?? id) : id, payload }],
      );
      return { messages, last: Number(last.offset) };
    },
  };
}

function toEntity({ id, name, blocked_at }: EntityRow): ExportedEntity {
  return { id, name, isBlocked: blocked_at !== null };
}
