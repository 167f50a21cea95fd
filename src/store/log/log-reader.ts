import { type EventKind, kindOf, type LogEvent } from "../../contract/log/log-event.ts";
import { logStart } from "../../contract/log/log-place.ts";
import { textsIn } from "../../lib/json/json-values.ts";
import { asSent, isOpen, type PieceColumns, pieceColumns, readPiece } from "../messages/pieces.ts";
import type { LogReader } from "../ports.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { headColumns, toHead } from "./head.ts";
import { withinBytes } from "./page-bytes.ts";

/** A row of the log. */
export type EventRow = Row & {
  offset: number;
  kind: string;
  id: string;
  cid: string | null;
  payload: string;
  uids: string | null;
  expires_at: number | null;
  silent: number | null;
} & PieceColumns;

type HeadRow = Row & { head: number; head_id: string | null };

/** Kinds whose text may have been taken out of the store. */
const textKinds = new Set<string>(["message", "system", "edit", "reaction", "append"] satisfies EventKind[]);

/**
 * The SQL of the end of a page, found first, so that no larger payloads are read than fit it. Placeholders: `org`, the offset, the limit
 * and the bytes.
 */
export const endOfPage = withinBytes(
  `SELECT "offset", OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0) AS bytes
    FROM event WHERE org = ? AND "offset" > ? ORDER BY "offset" LIMIT ?`,
  { maxBytes: "?" },
);
const readEvents = `SELECT "offset", kind, id, cid, payload, uids, expires_at, silent, ${pieceColumns("event")} FROM event
  WHERE org = ? AND "offset" > ? AND "offset" <= (SELECT MAX("offset") FROM (${endOfPage}) AS fitting) ORDER BY "offset"`;

// Reads only the id of the event at the place itself.
const readPlaceAndEvents =
  withinBytes(`SELECT "offset", kind, id, cid, CASE WHEN "offset" > ? THEN payload ELSE '' END AS payload, uids, expires_at, silent, ${pieceColumns("event")},
    CASE WHEN "offset" > ? THEN OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0) ELSE 0 END AS bytes
  FROM event WHERE org = ? AND "offset" >= ? ORDER BY "offset" LIMIT ?`);

const readPage = `SELECT ${headColumns}, page.* FROM organization o LEFT JOIN (${readPlaceAndEvents}) AS page ON TRUE
  WHERE o.id = ? ORDER BY page."offset"`;

/** Creates the log reads that the gateway needs. */
export function createLogReader({ reader }: { reader: Reader }): LogReader {
  const readHeads = `SELECT o.id, ${headColumns} FROM organization o WHERE o.id IN (${reader.dialect.givenTexts})`;
  return {
    async heads(orgs) {
      const rows = await reader.allOf<HeadRow & { id: string }>(orgs, readHeads, JSON.stringify(orgs));
      return new Map(rows.map((row) => [row.id, toHead(row)]));
    },
    async readFrom(org, offset, limit) {
      type PageRow = HeadRow & (EventRow | { offset: null });
      const rows = await reader.allOf<PageRow>(org, readPage, offset, offset, org, offset, limit + 1, org);
      const logged = rows.filter((row): row is HeadRow & EventRow => row.offset !== null);
      const events = (await asSent(reader, org, logged)).map((row) => toEvent(org, row));
      const anchor = events[0]?.offset === offset ? events.shift()?.id : undefined;
      return { head: rows[0] === undefined ? logStart : toHead(rows[0]), anchor, events };
    },
    async readAfter(org, offset, limit, maxBytes) {
      const rows = await reader.allOf<EventRow>(org, readEvents, org, offset, org, offset, limit, maxBytes);
      return (await asSent(reader, org, rows)).map((row) => toEvent(org, row));
    },
  };
}

/** The event of a row; one whose text is removed is `blank`. */
export function toEvent(org: string, row: EventRow): LogEvent {
  const { id, payload } = row;
  const expiresAt = row.expires_at === null ? undefined : Number(row.expires_at);
  const place = { org, offset: Number(row.offset), id, cid: row.cid ?? undefined, payload, expiresAt };
  const kind = row.payload === "" && textKinds.has(row.kind) ? "blank" : kindOf(row.kind);
  if (kind === "append") {
    const piece = readPiece(row);
    return piece === undefined
      ? { ...place, kind: "blank", uids: undefined }
      : { ...place, kind, uids: undefined, ...piece };
  }
  if (kind === "message" && isOpen(row)) return { ...place, kind, uids: undefined, isOpen: true };
  if (row.uids === null) return { ...place, kind, uids: undefined };
  const uids = textsIn(row.uids); // one that cannot be parsed must not keep the events beside it from being read
  return { ...place, kind: uids === undefined ? "unplayable" : kind, uids };
}
