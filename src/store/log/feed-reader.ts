import { kindOf, type LogEvent } from "../../contract/log/log-event.ts";
import { blankMessagePayload, blankSystemPayload } from "../../contract/messages/changes.ts";
import { lasts } from "../messages/expiry-rule.ts";
import { asSent, pieceColumns } from "../messages/pieces.ts";
import type { Reader } from "../sql/driver.ts";
import { type EventRow, endOfPage, toEvent } from "./log-reader.ts";
import { isOfConversation } from "./past.ts";

type FeedRow = EventRow & { sender: string | null; mid: string | null; created_at: number };

/** Reads the log for feeds that begin in the past. */
export type FeedReader = {
  /**
   * Like `LogReader.readAfter`, but a message or system message that was recalled, has expired, was erased or belongs to a deleted
   * conversation comes with a text that says only who sent it when. An edit that is gone is `blank`.
   */
  readShown(org: string, offset: number, limit: number, maxBytes: number): Promise<LogEvent[]>;
};

/** Creates the reads of feeds that begin in the past. */
export function createFeedReader({ reader }: { reader: Reader }): FeedReader {
  const ofDeleted = "(e.kind IN ('message', 'edit') AND c.id IS NULL)";
  const readShown = `SELECT e."offset", e.kind, e.id, e.cid, e.sender, e.mid, e.created_at, e.uids,
      CASE WHEN ${ofDeleted} OR NOT ${lasts(reader.dialect, "e")} THEN '' ELSE e.payload END AS payload, e.expires_at, e.silent, ${pieceColumns("e")}
    FROM event e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation}
    WHERE e.org = ? AND e."offset" > ? AND e."offset" <= (SELECT MAX("offset") FROM (${endOfPage}) AS fitting)
    ORDER BY e."offset"`;
  return {
    async readShown(org, offset, limit, maxBytes) {
      const rows = await reader.allOf<FeedRow>(org, readShown, org, offset, org, offset, limit, maxBytes);
      return (await asSent(reader, org, rows)).map((row) => toShown(org, row));
    },
  };
}

/** The event as a feed shows it: without its text, a message says only who sent it when. */
function toShown(org: string, row: FeedRow): LogEvent {
  const event = toEvent(org, row);
  const { id, cid, kind } = event;
  if (kind !== "blank") return event;
  const blanked = { id, at: Number(row.created_at), from: row.sender ?? "", cid };
  const shown = (payload: string): LogEvent => ({ ...event, kind: kindOf(row.kind), payload, expiresAt: undefined });
  if (row.kind === "message") return shown(blankMessagePayload(blanked));
  if (row.kind === "system") return shown(blankSystemPayload({ ...blanked, id: row.mid ?? id }));
  return event; // an edit that another replaces, or of a message that is gone
}
