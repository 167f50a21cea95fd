import { kindOf } from "../../contract/log/log-event.ts";
import { payloadOfPage, withinBytes } from "../log/page-bytes.ts";
import { isMessageOf, isOfConversation } from "../log/past.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader } from "../sql/driver.ts";
import { hasText, lasts } from "./expiry-rule.ts";
import { newestEvents } from "./newest.ts";
import type { History, MessagePlace, MissedEvent, MissedEvents, StoredMessage } from "./ports.ts";

type PayloadRow = { offset: number; payload: string };
type MessageRow = PayloadRow & { cid: string | null; edited_at: number | null; reactions: string | null };
type MissedRow = PayloadRow & {
  id: string;
  kind: string;
  cid: string;
  log_start: number;
  expires_at: number | null;
};

// Uses one table and one index, so that a page costs a page whatever the planner knows: with a join, PostgreSQL may
// sort the whole history. Uses one lower bound: of two, SQLite starts the scan at either, even the far one. Imported
// messages lie before the log, at offsets below zero; the plus leaves the second condition out of the scan.
const fromConversation = `FROM event WHERE org = ? AND cid = ? AND ${isMessageOf("event")}
  AND "offset" > (SELECT CASE WHEN COALESCE(past_start, log_start) > ? THEN COALESCE(past_start, log_start) ELSE ? END
    FROM conversation WHERE org = ? AND id = ?)
  AND (+"offset" < 0 OR +"offset" > (SELECT log_start FROM conversation WHERE org = ? AND id = ?))`;
/** The values of `fromConversation` for the messages after an offset. */
const from = (org: string, cid: string, after: number) => [org, cid, after, after, org, cid, org, cid];
const beginning = Number.MIN_SAFE_INTEGER;

// Reads payloads only once the rows of the page are known: SQLite would otherwise sort and carry those of all
// candidates.

const readPage = (dialect: Dialect, order: "ASC" | "DESC") =>
  withinBytes(
    `SELECT org, "offset", cid, edited_at, reactions, OCTET_LENGTH(payload) AS bytes
     ${fromConversation} AND ${hasText(dialect, "event")} AND "offset" < ? ORDER BY "offset" ${order} LIMIT ?`,
    { order, columns: `"offset", cid, edited_at, reactions, ${payloadOfPage}`, maxBytes: "?" },
  );

// Both engines keep the order of the inner list, which is all in an index: the first match ends the search.
const lastOffset = (dialect: Dialect) => `(SELECT newest."offset" FROM (${newestEvents({
  columns: ["recalled_at", "expires_at"],
  where: 'event.org = c.org AND event.cid = c.id AND event."offset" > COALESCE(c.past_start, c.log_start)',
})}) AS newest
  WHERE ${isMessageOf("newest")} AND newest.recalled_at IS NULL AND ${lasts(dialect, "newest")} AND (newest."offset" < 0 OR newest."offset" > c.log_start) LIMIT 1)`;
const findSpan = `SELECT COALESCE(c.past_start, c.log_start) AS first, o.head AS last FROM conversation c
  JOIN organization o ON o.id = c.org WHERE c.org = ? AND c.id = ?`;
const findFrom = `SELECT "offset", created_at FROM event WHERE org = ? AND cid = ? AND "offset" >= ? AND "offset" < ?
  ORDER BY "offset" LIMIT 1`;

/** Creates the reads of conversations' messages. */
export function createHistory({ reader }: { reader: Reader }): History {
  const { dialect } = reader;
  const { givenTexts, givenNumbers } = dialect;
  const readForward = readPage(dialect, "ASC");
  const readBackward = readPage(dialect, "DESC");
  // COALESCE keeps SQLite from reading the whole conversation, or PostgreSQL from planning to.
  const findPlaces = `SELECT e.cid, e."offset", OCTET_LENGTH(e.payload) AS bytes FROM event e
    JOIN conversation c ON c.org = ? AND c.id = ?
    WHERE e.org = ? AND e.id IN (${givenTexts}) AND COALESCE(e.cid, '') = c.id AND ${isMessageOf("e")} AND ${hasText(dialect, "e")}
      AND ${isOfConversation} ORDER BY e."offset" DESC`;
  // Row by row, as PostgreSQL expects a hundred rows from any JSON array, and would join by reading a table of up to some 20,000.
  const findLast = `WITH last AS MATERIALIZED (
      SELECT c.org, c.id AS cid, ${lastOffset(dialect)} AS "offset" FROM conversation c WHERE c.org = ? AND c.id IN (${givenTexts}))
    SELECT cid, "offset", (SELECT OCTET_LENGTH(payload) FROM event WHERE event.org = last.org AND event."offset" = last."offset") AS bytes
    FROM last WHERE "offset" IS NOT NULL`;
  const at = (column: string) =>
    `(SELECT ${column} FROM event WHERE event.org = ? AND event."offset" = place."offset")`;
  const findReactions = `SELECT "offset", reaction FROM message_reaction
    WHERE org = ? AND cid = ? AND "offset" IN (${givenNumbers}) AND uid = ? ORDER BY reaction`;
  const readAt = `SELECT "offset", ${at("cid")} AS cid, ${at("edited_at")} AS edited_at, ${at("reactions")} AS reactions, ${at("payload")} AS payload
    FROM (SELECT value AS "offset" FROM (${givenNumbers}) AS numbers) AS place ORDER BY "offset" DESC`;
  return {
    places: async (org, cid, ids) =>
      (await reader.allOf<MessagePlace>(org, findPlaces, org, cid, org, JSON.stringify(ids))).map(toPlace),
    lastPlaces: async (org, cids) =>
      (await reader.allOf<MessagePlace>(org, findLast, org, JSON.stringify(cids))).map(toPlace),
    async messagesAt(org, offsets) {
      type Row = Omit<MessageRow, "payload"> & { payload: string | null };
      const rows = await reader.allOf<Row>(org, readAt, org, org, org, org, JSON.stringify(offsets));
      return rows.flatMap(({ payload, ...row }) => (payload === null ? [] : [toMessage({ ...row, payload })]));
    },
    async reactionsBy(org, uid, messages) {
      type Found = { offset: number; reaction: string };
      const byCid = Map.groupBy(messages, ({ cid }) => cid);
      const found = await Promise.all(
        Array.from(byCid, ([cid, ones]) =>
          reader.allOf<Found>(org, findReactions, org, cid, JSON.stringify(ones.map(({ offset }) => offset)), uid),
        ),
      );
      const byOffset = Map.groupBy(found.flat(), ({ offset }) => Number(offset));
      return new Map(Array.from(byOffset, ([offset, rows]) => [offset, rows.map(({ reaction }) => reaction).sort()]));
    },
    async offsetAfter(org, cid, time) {
      const [span] = await reader.allOf<{ first: number; last: number }>(org, findSpan, org, cid);
      let [low, high] = [Number(span?.first ?? 0) + 1, Number(span?.last ?? 0) + 1];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        type Row = { offset: number; created_at: number };
        const [found] = await reader.allOf<Row>(org, findFrom, org, cid, middle, high);
        if (found === undefined || Number(found.created_at) > time) high = middle;
        else low = Number(found.offset) + 1;
      }
      return low;
    },
    async messages(org, cid, { after = beginning, before = Number.MAX_SAFE_INTEGER, direction, limit, maxBytes }) {
      const find = direction === "forward" ? readForward : readBackward;
      const rows = await reader.allOf<MessageRow>(org, find, ...from(org, cid, after), before, limit, maxBytes);
      return rows.map(toMessage);
    },
    async offsetOf(org, cid, id) {
      const find = `SELECT "offset" ${fromConversation} AND id = ?`;
      const [row] = await reader.allOf<{ offset: number }>(org, find, ...from(org, cid, beginning), id);
      return row && Number(row.offset);
    },
  };
}

// The plus keeps SQLite from starting the scan there: of two lower bounds, it takes either.
const fromMissed = (dialect: Dialect) => `FROM participant p
  JOIN conversation c ON c.org = p.org AND c.id = p.cid
  JOIN event e ON e.org = p.org AND e.cid = p.cid AND +e."offset" > c.log_start
    AND e.kind IN ('message', 'edit', 'recall', 'reaction') AND ${hasText(dialect, "e")}
  WHERE p.org = ? AND p.uid = ? AND e."offset" > ? AND e."offset" <= ?`;

/** Creates the reads of what a user missed in all of the user's conversations. */
export function createMissedEvents({ reader }: { reader: Reader }): MissedEvents {
  const missed = fromMissed(reader.dialect);
  const count = `SELECT COUNT(*) AS count FROM (SELECT 1 ${missed} LIMIT ?) AS missed`;
  const readMissed = withinBytes(
    `SELECT e.org, e."offset", e.id, e.kind, e.cid, p.log_start, e.expires_at, OCTET_LENGTH(e.payload) AS bytes ${missed}
      ORDER BY e."offset" LIMIT ?`,
    { columns: `"offset", id, kind, cid, log_start, expires_at, ${payloadOfPage}`, maxBytes: "?" },
  );
  return {
    async findMessage(org, id) {
      const find = `SELECT "offset", created_at FROM event WHERE id = ? AND org = ? AND kind = 'message'`;
      const [row] = await reader.allOf<{ offset: number; created_at: number }>(org, find, id, org);
      return row && { offset: Number(row.offset), createdAt: Number(row.created_at) };
    },
    async countMissed(org, uid, after, upTo, limit) {
      const [row] = await reader.allOf<{ count: number }>(org, count, org, uid, after, upTo, limit);
      return Number(row?.count ?? 0);
    },
    async readMissed(org, uid, after, upTo, limit, maxBytes) {
      const rows = await reader.allOf<MissedRow>(org, readMissed, org, uid, after, upTo, limit, maxBytes);
      return rows.map(toMissed);
    },
  };
}

function toMessage({ offset, cid, payload, edited_at, reactions }: MessageRow): StoredMessage {
  const editedAt = edited_at === null ? undefined : Number(edited_at);
  return { offset: Number(offset), cid: cid ?? "", payload, editedAt, reactions: reactions ?? undefined };
}

function toPlace({ cid, offset, bytes }: MessagePlace): MessagePlace {
  return { cid, offset: Number(offset), bytes: Number(bytes) };
}

function toMissed({ id, kind, cid, payload, expires_at, ...row }: MissedRow): MissedEvent {
  const offset = Number(row.offset);
  const expiresAt = expires_at === null ? undefined : Number(expires_at);
  return { offset, id, kind: kindOf(kind), cid, payload, expiresAt, isRecipient: offset > Number(row.log_start) };
}
