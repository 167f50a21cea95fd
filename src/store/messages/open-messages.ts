import { toSeconds } from "../../contract/identifiers.ts";
import { appendPayload, midOfPiece } from "../../contract/messages/append.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import { createDueReads } from "../due-reads.ts";
import type { LogWriter } from "../log/log-writer.ts";
import { isMessageOf, isOfConversation } from "../log/past.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { hasText } from "./expiry-rule.ts";
import { findOpenSince, grow } from "./growth.ts";
import type { OpenMessageReads, OpenMessageWrites } from "./ports.ts";

type FoundRow = Row & { cid: string; offset: number; sender: string; length: number | null; payload: string | null };

const findNext = "SELECT open_since AS at FROM growth WHERE open_since IS NOT NULL ORDER BY open_since LIMIT 1";
const findOrganizations = `SELECT DISTINCT org FROM (SELECT org FROM growth WHERE open_since IS NOT NULL AND open_since <= ?
  ORDER BY open_since LIMIT ?) AS silent`;

/** Creates the reads of messages that grow. `silenceMs`: how long after its last piece one is complete as it is. */
export function createOpenMessageReads({ reader, silenceMs }: { reader: Reader; silenceMs: number }): OpenMessageReads {
  const findOne = `SELECT e.cid, e."offset", e.sender, g.length, CASE WHEN g.id IS NULL THEN e.payload END AS payload FROM event e
    JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation}
    LEFT JOIN growth g ON g.id = e.id AND g.org = e.org
    WHERE e.id = ? AND e.org = ? AND ${isMessageOf("e")} AND ${hasText(reader.dialect, "e")}`;
  return {
    async find(org, id) {
      const [row] = await reader.allOf<FoundRow>(org, findOne, id, org);
      if (row === undefined) return undefined;
      const { cid, sender, length, payload } = row;
      return {
        cid,
        offset: Number(row.offset),
        sender,
        length: length === null ? undefined : Number(length),
        payload: payload ?? undefined,
      };
    },
    ...createDueReads({ reader, findNext, findOrganizations, afterMs: silenceMs }),
  };
}

/** Creates the writes that complete messages whose senders are silent. They lock the organization, so that of several nodes one does it. */
export function createOpenMessageWrites({
  writer,
  silenceMs,
}: {
  writer: LogWriter;
  silenceMs: number;
}): OpenMessageWrites {
  return {
    completeSome: (org, at) =>
      writer.bulk(org, 0, async (transaction) => {
        const silent = await findOpenSince(transaction.sql, org, { before: at - silenceMs, limit: rowsOfStatement });
        const growing = silent.map((growth) => {
          const { id, cid, sender, length: offset } = growth;
          const payload = appendPayload({ id, cid, from: sender, offset, text: "", done: true, t: toSeconds(at) });
          const { offset: lastOffset } = transaction.emit({
            ...{ org, kind: "append" as const, id: createId(at), cid, sender, uids: undefined, createdAt: at, payload },
            mid: midOfPiece(id, offset),
            piece: { of: id, offset, text: "", isDone: true },
            completes: growth.offset,
            silent: growth.silent || undefined,
          });
          return { growth, texts: [], lastOffset, isDone: true, at };
        });
        await grow(transaction, growing);
        return silent.length;
      }),
  };
}
