import type { EventKind, LogEvent } from "../contract/log-event.ts";
import type { Reader, Row } from "./driver.ts";
import { withinBytes } from "./page-bytes.ts";
import type { LogReader } from "./ports.ts";

type EventRow = Row & {
  offset: number;
  kind: string;
  id: string;
  cid: string | null;
  payload: string;
  uids: string | null;
};

const kinds = new Set<string>(["message", "system", "membership", "session"] satisfies EventKind[]);

const readEvents =
  withinBytes(`SELECT "offset", kind, id, cid, payload, uids, OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0) AS bytes
  FROM event WHERE org = ? AND "offset" > ? ORDER BY "offset" LIMIT ?`);

/** Reads the log as its players need it. */
export function createLogReader({ reader }: { reader: Reader }): LogReader {
  const readHeads = `SELECT id, head FROM organization WHERE id IN (${reader.dialect.textsOf("?")})`;
  return {
    async heads(orgs) {
      const rows = await reader.all<{ id: string; head: number }>(readHeads, JSON.stringify(orgs));
      return new Map(rows.map(({ id, head }) => [id, Number(head)]));
    },
    async readAfter(org, offset, limit) {
      const rows = await reader.allOf<EventRow>(org, readEvents, org, offset, limit);
      return rows.map((row) => toEvent(org, row));
    },
  };
}

function toEvent(org: string, row: EventRow): LogEvent {
  if (!isKind(row.kind)) throw new Error(`the log holds an event of the unknown kind ${row.kind}`);
  const uids: string[] | undefined = row.uids === null ? undefined : JSON.parse(row.uids);
  return {
    org,
    offset: Number(row.offset),
    kind: row.kind,
    id: row.id,
    cid: row.cid ?? undefined,
    payload: row.payload,
    uids,
  };
}

function isKind(kind: string): kind is EventKind {
  return kinds.has(kind);
}
