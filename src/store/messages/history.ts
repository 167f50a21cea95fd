import { kindOf } from "../../contract/log/log-event.ts";
import { payloadOfPage, withinBytes } from "../log/page-bytes.ts";
import { isMessageOf, isOfConversation } from "../log/past.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader } from "../sql/driver.ts";
import { hasText, lasts } from "./expiry-rule.ts";
import { hiderValues, isNotHidden } from "./hidden-rule.ts";
import { newestEvents } from "./newest.ts";
import { asGrownAt, findGrown, isOpen, readRest, withPieces } from "./pieces.ts";
import type { History, MessagePlace, MissedEvent, MissedEvents, StoredMessage } from "./ports.ts";

const placeOf = (event: string) => ({ org: `${event}.org`, cid: `${event}.cid`, offset: `${event}."offset"` });

type PayloadRow = { offset: number; payload: string };
type MessageRow = PayloadRow & {
  cid: string | null;
  edited_at: number | null;
  reactions: string | null;
  silent: number | null;
};
type MissedRow = PayloadRow & {
  id: string;
  kind: string;
  cid: string;
  log_start: number;
  expires_at: number | null;
  silent: number | null;
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

const readPage = (dialect: Dialect, order: "ASC" | "DESC", isWanted = "") =>
  withinBytes(
    `SELECT org, "offset", cid, edited_at, reactions, silent, OCTET_LENGTH(payload) AS bytes
     ${fromConversation} AND ${hasText(dialect, "event")} AND "offset" < ? ${isWanted} ORDER BY "offset" ${order} LIMIT ?`,
    { order, columns: `"offset", cid, edited_at, reactions, silent, ${payloadOfPage}`, maxBytes: "?" },
  );

// Both engines keep the order of the inner list, which is all in an index: the first match ends the search.
const lastOffset = (dialect: Dialect) => `(SELECT newest."offset" FROM (${newestEvents({
  columns: ["recalled_at", "expires_at"],
  where: 'event.org = c.org AND event.cid = c.id AND event."offset" > COALESCE(c.past_start, c.log_start)',
})}) AS newest
  WHERE ${isMessageOf("newest")} AND newest.recalled_at IS NULL AND ${lasts(dialect, "newest")} AND (newest."offset" < 0 OR newest."offset" > c.log_start)
    AND ${isNotHidden({ org: "c.org", cid: "c.id", offset: 'newest."offset"' })} LIMIT 1)`;
const findSpan = `SELECT COALESCE(c.past_start, c.log_start) AS first, o.head AS last FROM conversation c
  JOIN organization o ON o.id = c.org WHERE c.org = ? AND c.id = ?`;
const findFrom = `SELECT "offset", created_at FROM event WHERE org = ? AND cid = ? AND "offset" >= ? AND "offset" < ?
  ORDER BY "offset" LIMIT 1`;

/** Creates the reads of conversations' messages. */
export function createHistory({ reader }: { reader: Reader }): History {
  const { dialect } = reader;
  const { givenTexts, givenNumbers } = dialect;
  const isShown = `AND ${isNotHidden(placeOf("event"))}`;
  const pages = { forward: readPage(dialect, "ASC"), backward: readPage(dialect, "DESC") };
  const pagesOfViewer = {
    forward: readPage(dialect, "ASC", isShown),
    backward: readPage(dialect, "DESC", isShown),
  };
  // COALESCE keeps SQLite from reading the whole conversation, or PostgreSQL from planning to.
  const findPlaces = `SELECT e.cid, e."offset", OCTET_LENGTH(e.payload) AS bytes FROM event e
    JOIN conversation c ON c.org = ? AND c.id = ?
    WHERE e.org = ? AND e.id IN (${givenTexts}) AND COALESCE(e.cid, '') = c.id AND ${isMessageOf("e")} AND ${hasText(dialect, "e")}
      AND ${isOfConversation} AND ${isNotHidden(placeOf("e"))} ORDER BY e."offset" DESC`;
  // Row by row, as PostgreSQL expects a hundred rows from any JSON array, and would join by reading a table of up to some 20,000.
  const findLast = `WITH last AS MATERIALIZED (
      SELECT c.org, c.id AS cid, ${lastOffset(dialect)} AS "offset" FROM conversation c WHERE c.org = ? AND c.id IN (${givenTexts}))
    SELECT cid, "offset", (SELECT OCTET_LENGTH(payload) FROM event WHERE event.org = last.org AND event."offset" = last."offset") AS bytes
    FROM last WHERE "offset" IS NOT NULL`;
  const at = (column: string) =>
    `(SELECT ${column} FROM event WHERE event.org = ? AND event."offset" = place."offset")`;
  const findReactions = `SELECT "offset", reaction FROM message_reaction
    WHERE org = ? AND cid = ? AND "offset" IN (${givenNumbers}) AND uid = ? ORDER BY reaction`;
  const readAt = `SELECT "offset", ${at("cid")} AS cid, ${at("edited_at")} AS edited_at, ${at("reactions")} AS reactions, ${at("silent")} AS silent, ${at("payload")} AS payload
    FROM (SELECT value AS "offset" FROM (${givenNumbers}) AS numbers) AS place ORDER BY "offset" DESC`;
  return {
    async places(org, cid, ids, viewer) {
      const values = [org, cid, org, JSON.stringify(ids), ...hiderValues(org, viewer)];
      return (await reader.allOf<MessagePlace>(org, findPlaces, ...values)).map(toPlace);
    },
    async lastPlaces(org, cids, viewer) {
      const values = [...hiderValues(org, viewer), org, JSON.stringify(cids)];
      return (await reader.allOf<MessagePlace>(org, findLast, ...values)).map(toPlace);
    },
    async messagesAt(org, offsets) {
      type Row = Omit<MessageRow, "payload"> & { payload: string | null };
      const rows = await reader.allOf<Row>(org, readAt, org, org, org, org, org, JSON.stringify(offsets));
      const there = rows.flatMap(({ payload, ...row }) => (payload === null ? [] : [{ ...row, payload }]));
      return (await withPieces(reader, org, there)).map(toMessage);
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
    async messages(org, cid, range, viewer) {
      const { after = beginning, before = Number.MAX_SAFE_INTEGER, direction, limit, maxBytes } = range;
      const find = (viewer === undefined ? pages : pagesOfViewer)[direction];
      const hider = viewer === undefined ? [] : hiderValues(org, viewer);
      const values = [...from(org, cid, after), before, ...hider, limit, maxBytes];
      const rows = await reader.allOf<MessageRow>(org, find, ...values);
      return (await withPieces(reader, org, rows)).map(toMessage);
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
    AND e.kind IN ('message', 'edit', 'recall', 'reaction', 'hide') AND ${hasText(dialect, "e")}
  WHERE p.org = ? AND p.uid = ? AND e."offset" > ? AND e."offset" <= ? AND (e.kind <> 'hide' OR e.sender = p.uid)
    AND ${isNotHidden(placeOf("e"))}`;

/** The values of `fromMissed`. */
const of = (org: string, uid: string, after: number, upTo: number) => [org, uid, after, upTo, ...hiderValues(org, uid)];

/** Creates the reads of what a user missed in all of the user's conversations. */
export function createMissedEvents({ reader }: { reader: Reader }): MissedEvents {
  const missed = fromMissed(reader.dialect);
  const count = `SELECT COUNT(*) AS count FROM (SELECT 1 ${missed} LIMIT ?) AS missed`;
  const readMissed = withinBytes(
    `SELECT e.org, e."offset", e.id, e.kind, e.cid, p.log_start, e.expires_at, e.silent, OCTET_LENGTH(e.payload) AS bytes ${missed}
      ORDER BY e."offset" LIMIT ?`,
    { columns: `"offset", id, kind, cid, log_start, expires_at, silent, ${payloadOfPage}`, maxBytes: "?" },
  );
  return {
    async findMessage(org, id) {
      const find = `SELECT "offset", created_at FROM event WHERE id = ? AND org = ? AND kind = 'message'`;
      const [row] = await reader.allOf<{ offset: number; created_at: number }>(org, find, id, org);
      return row && { offset: Number(row.offset), createdAt: Number(row.created_at) };
    },
    async countMissed(org, uid, after, upTo, limit) {
      const [row] = await reader.allOf<{ count: number }>(org, count, ...of(org, uid, after, upTo), limit);
      return Number(row?.count ?? 0);
    },
    async readMissed(org, uid, after, upTo, limit, maxBytes, head = upTo) {
      const rows = await reader.allOf<MissedRow>(org, readMissed, ...of(org, uid, after, upTo), limit, maxBytes);
      return (await asGrownAt(reader, org, rows, head)).map(toMissed);
    },
    findGrown: (org, uid, since) => findGrown(reader, { org, uid, since }),
    async readGrown(grown, { since, head }) {
      return (await Promise.all(grown.map((one) => readRest(reader, one, { since, head })))).flatMap(
        (rest) => rest ?? [],
      );
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
  const event = {
    offset,
    id,
    kind: kindOf(kind),
    cid,
    payload,
    expiresAt,
    isRecipient: offset > Number(row.log_start),
  };
  return isOpen(row) ? { ...event, isOpen: true } : event;
}
