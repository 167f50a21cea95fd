import { kindOf } from "../../contract/log/log-event.ts";
import type { TimedRange } from "../../lib/timed-ranges.ts";
import { withinBytes } from "../log/page-bytes.ts";
import type { MissedEvent } from "../messages/ports.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { placesValues, userPlaces } from "./places.ts";
import { type InboxReads, type Marks, type MissedKept, noMarks } from "./ports.ts";

type PlaceRow = Row & { o: number; id: string; mid: string; bytes: number };
type MissedRow = Row & { offset: number; id: string; kind: string; cid: string | null; payload: string };

// The rows of a user: in each place, a range of an index. A message has one of them.
const rowsOfUser = `SELECT i."offset" AS o, i.mid, i.sender_key, i.silent, i.kept_until FROM (${userPlaces}) AS p
  JOIN inbox i ON i.org = ? AND i.place = p.place AND i."offset" > p.after AND i."offset" <= p.up_to`;
// Of rows with one key, only the newest can be an item, even if it is none any more.
const items = `WITH mine AS MATERIALIZED (${rowsOfUser}),
  items AS MATERIALIZED (
    SELECT o, mid, silent FROM mine WHERE mid IS NOT NULL AND kept_until > ? AND (sender_key IS NULL
      OR o IN (SELECT MAX(o) FROM mine WHERE sender_key IS NOT NULL GROUP BY sender_key)))`;
const valuesOf = (org: string, uid: string, now: number): SqlValue[] => [...placesValues(org, uid), org, now];

const findMarks = "SELECT marks FROM inbox_mark WHERE org = ? AND uid = ?";
const findAny = `${items} SELECT 1 AS one FROM items LIMIT 1`;

/** Creates the reads of inboxes, and of what users missed that is kept in them. */
export function createInboxReads({ reader }: { reader: Reader }): InboxReads & MissedKept {
  const { givenTexts, givenTuples } = reader.dialect;
  const isUnread = `NOT EXISTS (SELECT 1 FROM marked WHERE marked.first <= items.o AND marked.last >= items.o)`;
  const marked = `marked AS MATERIALIZED (SELECT CAST(v0 AS BIGINT) AS first, CAST(v1 AS BIGINT) AS last FROM (${givenTuples(2)}) AS given)`;
  const text = `e.org = ? AND e."offset" = page.o AND OCTET_LENGTH(e.payload) > 0`;
  const list = (isWanted: string) =>
    `${items}, ${marked}, page AS (SELECT o, mid FROM items WHERE o < ? AND ${isWanted} ORDER BY o DESC LIMIT ?)
      SELECT page.o, e.id, page.mid, OCTET_LENGTH(e.payload) AS bytes FROM page JOIN event e ON ${text}
      ORDER BY page.o DESC`;
  const [listAll, listUnread] = [list("TRUE"), list(isUnread)];
  const count = `${items}, ${marked} SELECT COUNT(*) AS unread FROM items WHERE o > ? AND o <= ? AND silent = 0 AND ${isUnread}`;
  const findNamed = `${items}, placed AS (SELECT o, mid, LAG(o, 1, CAST(0 AS BIGINT)) OVER (ORDER BY o) AS before FROM items)
    SELECT placed.o, e.id, placed.mid, placed.before FROM placed JOIN event e ON e.org = ? AND e."offset" = placed.o
    WHERE placed.mid IN (${givenTexts}) ORDER BY placed.o DESC`;
  const missed = `${rowsOfUser} WHERE i.kept_until > ? AND i."offset" > ? AND i."offset" <= ?`;
  const countMissed = `SELECT COUNT(*) AS count FROM (SELECT 1 FROM (${missed}) AS mine LIMIT ?) AS counted`;
  const readMissed = withinBytes(
    `SELECT e.org, e."offset", e.id, e.kind, e.cid, OCTET_LENGTH(e.payload) AS bytes FROM (${missed}) AS mine
      JOIN event e ON e.org = ? AND e."offset" = mine.o AND OCTET_LENGTH(e.payload) > 0 ORDER BY e."offset" LIMIT ?`,
    {
      columns: `"offset", id, kind, cid, (SELECT payload FROM event WHERE event.org = page.org AND event."offset" = page."offset") AS payload`,
      maxBytes: "?",
    },
  );

  return {
    async marks(org, uid) {
      const [row] = await reader.allOf<{ marks: string }>(org, findMarks, org, uid);
      return row === undefined ? noMarks : readMarks(row.marks);
    },
    async list(org, uid, { now, before = Number.MAX_SAFE_INTEGER, limit }, unreadBy) {
      const values = [...valuesOf(org, uid, now), tuplesOf(unreadBy?.read ?? []), before];
      const query = unreadBy === undefined ? listAll : listUnread;
      const rows = await reader.allOf<PlaceRow>(org, query, ...values, limit, org);
      return rows.map(({ o, id, mid, bytes }) => ({ offset: Number(o), id, mid, bytes: Number(bytes) }));
    },
    async countUnread(org, uid, { now, upTo, marks: { read } }) {
      // Nearly always, everything up to some message is read.
      const [first] = read;
      const after = first !== undefined && first[0] <= 1 ? first[1] : 0;
      const [row] = await reader.allOf<{ unread: number }>(
        org,
        count,
        ...valuesOf(org, uid, now),
        tuplesOf(read),
        after,
        upTo,
      );
      return Number(row?.unread ?? 0);
    },
    async hasAny(org, uid, now) {
      return (await reader.allOf(org, findAny, ...valuesOf(org, uid, now))).length > 0;
    },
    async named(org, uid, ids, now) {
      type Named = Row & { o: number; id: string; mid: string; before: number };
      const rows = await reader.allOf<Named>(org, findNamed, ...valuesOf(org, uid, now), org, JSON.stringify(ids));
      return rows.map(({ o, id, mid, before }) => ({ offset: Number(o), id, mid, before: Number(before) }));
    },
    async countMissedKept(org, uid, { after, upTo, now, limit }) {
      const [row] = await reader.allOf<{ count: number }>(
        org,
        countMissed,
        ...valuesOf(org, uid, now),
        after,
        upTo,
        limit,
      );
      return Number(row?.count ?? 0);
    },
    async readMissedKept(org, uid, { after, upTo, now, limit, maxBytes }) {
      const values = [...valuesOf(org, uid, now), after, upTo, org, limit, maxBytes];
      return (await reader.allOf<MissedRow>(org, readMissed, ...values)).map(toMissed);
    },
  };
}

/** The marks in a row of `inbox_mark`. */
export function readMarks(text: string): Marks {
  return JSON.parse(text);
}

function tuplesOf(ranges: readonly TimedRange[]): string {
  return JSON.stringify(ranges.map(([first, last]) => [first, last]));
}

function toMissed({ offset, id, kind, cid, payload }: MissedRow): MissedEvent {
  return { offset: Number(offset), id, kind: kindOf(kind), cid: cid ?? undefined, payload, isRecipient: true };
}
