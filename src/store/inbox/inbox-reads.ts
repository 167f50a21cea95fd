import { kindOf } from "../../contract/log/log-event.ts";
import { isObject, objectWith } from "../../lib/json/json-values.ts";
import { payloadOfPage, withinBytes } from "../log/page-bytes.ts";
import { beginning } from "../log/past.ts";
import { hasText, lasts } from "../messages/expiry-rule.ts";
import type { MissedEvent } from "../messages/ports.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { placesValues, userPlaces } from "./places.ts";
import { type InboxOffset, type InboxReads, type InboxStart, type Marks, type MissedKept, noMarks } from "./ports.ts";

type PlaceRow = Row & { offset: number; id: string; mid: string | null; bytes: number; payload: string | null };
type OffsetsRow = Row & { offsets: string | null; silent: string | null };
type MissedRow = Row & {
  offset: number;
  id: string;
  kind: string;
  cid: string | null;
  payload: string;
  expires_at: number | null;
};

// The rows of a user: in each place, a range of an index. A message has one of them.
const begin = "CASE WHEN p.up_to < 0 THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END";
const rowsOfUser = `SELECT i."offset" AS o, i.mid, i.sender_key, i.silent, i.kept_until, i.expires_at FROM (${userPlaces}) AS p
  JOIN inbox i ON i.org = ? AND i.place = p.place AND i."offset" > CASE WHEN p.after > ${begin} THEN p.after ELSE ${begin} END
    AND i."offset" <= p.up_to`;
const rowsAfter = (org: string, uid: string, { past, log }: InboxStart): SqlValue[] => {
  return [...placesValues(org, uid), org, past, log, past, log];
};
const sentAfter = (org: string, uid: string, log: number) => rowsAfter(org, uid, { past: 0, log });

/**
 * The SQL of the items in an inbox, as a table `items` with the offset `o`. Of rows with one key, only the newest can be an item, even if
 * it is none any more. Placeholders: those of `itemsAfter`.
 */
export const itemsOf = (
  dialect: Pick<Dialect, "now">,
) => `WITH keyed AS MATERIALIZED (${rowsOfUser} WHERE i.sender_key IS NOT NULL), items AS (
    SELECT o, mid, silent, kept_until FROM (${rowsOfUser} WHERE i.sender_key IS NULL AND i.mid IS NOT NULL AND i.kept_until > ?) AS plain
      WHERE ${lasts(dialect, "plain")}
    UNION ALL
    SELECT o, mid, silent, kept_until FROM keyed WHERE mid IS NOT NULL AND kept_until > ? AND ${lasts(dialect, "keyed")}
      AND o IN (SELECT MAX(o) FROM keyed GROUP BY sender_key))`;
/** The values of `items`, of those after some offsets, at a time. */
export function itemsAfter(org: string, uid: string, after: InboxStart, now: number): SqlValue[] {
  const rows = rowsAfter(org, uid, after);
  return [...rows, ...rows, now, now];
}

const findMarks = "SELECT marks FROM inbox_mark WHERE org = ? AND uid = ?";

/** Creates the reads of inboxes, and of what users missed that is kept in them. */
export function createInboxReads({ reader }: { reader: Reader }): InboxReads & MissedKept {
  const { dialect } = reader;
  const { givenTexts, givenNumbers, joined } = dialect;
  const items = itemsOf(dialect);
  const offsets = `${joined("o")} AS offsets, ${joined("CASE WHEN silent = 1 THEN o END")} AS silent`;
  const findItems = `${items} SELECT ${offsets} FROM items`;
  const findNewest = `${items} SELECT ${offsets} FROM (SELECT o, silent FROM items WHERE o < ? ORDER BY o DESC LIMIT ?) AS newest`;
  const countItems = `${items} SELECT COUNT(*) AS items, COUNT(CASE WHEN silent = 0 AND o <= ? THEN 1 END) AS unsilent FROM items`;
  const findPlaces = `SELECT e."offset", e.id, e.mid, OCTET_LENGTH(e.payload) AS bytes, CASE WHEN e.mid IS NULL THEN e.payload END AS payload
    FROM event e WHERE e.org = ? AND e."offset" IN (${givenNumbers})
      AND ${hasText(dialect, "e")} ORDER BY e."offset" DESC`;
  const findNamed = `${items}, placed AS (SELECT o, mid, LAG(o, 1, CAST(${beginning} AS BIGINT)) OVER (ORDER BY o) AS before FROM items)
    SELECT placed.o, e.id, placed.mid, placed.before FROM placed JOIN event e ON e.org = ? AND e."offset" = placed.o
    WHERE placed.mid IN (${givenTexts}) ORDER BY placed.o DESC`;
  // Not what was recalled with a key, whose row stays.
  const missed = `${rowsOfUser} WHERE i.kept_until > ? AND i."offset" <= ? AND (i.mid IS NOT NULL OR i.sender_key IS NULL) AND ${lasts(dialect, "i")}`;
  const countMissed = `SELECT COUNT(*) AS count FROM (SELECT 1 FROM (${missed}) AS mine LIMIT ?) AS counted`;
  const readMissed = withinBytes(
    `SELECT e.org, e."offset", e.id, e.kind, e.cid, e.expires_at, OCTET_LENGTH(e.payload) AS bytes FROM (${missed}) AS mine
      JOIN event e ON e.org = ? AND e."offset" = mine.o AND ${hasText(dialect, "e")} ORDER BY e."offset" LIMIT ?`,
    {
      columns: `"offset", id, kind, cid, expires_at, ${payloadOfPage}`,
      maxBytes: "?",
    },
  );

  return {
    async marks(org, uid) {
      const [row] = await reader.allOf<{ marks: string }>(org, findMarks, org, uid);
      return row === undefined ? noMarks : readMarks(row.marks);
    },
    async items(org, uid, { after, now }) {
      return toOffsets(await reader.allOf<OffsetsRow>(org, findItems, ...itemsAfter(org, uid, after, now)));
    },
    async newest(org, uid, { after, before, limit, now }) {
      const values = [...itemsAfter(org, uid, after, now), before, limit];
      return toOffsets(await reader.allOf<OffsetsRow>(org, findNewest, ...values));
    },
    async count(org, uid, { after, upTo, now }) {
      type Counted = { items: number; unsilent: number };
      const [row] = await reader.allOf<Counted>(org, countItems, ...itemsAfter(org, uid, after, now), upTo);
      return { items: Number(row?.items ?? 0), unsilent: Number(row?.unsilent ?? 0) };
    },
    async places(org, offsets) {
      const rows = await reader.allOf<PlaceRow>(org, findPlaces, org, JSON.stringify(offsets));
      return rows.map(({ offset, id, mid, bytes, payload }) => {
        return { offset: Number(offset), id, mid: mid ?? midIn(payload ?? ""), bytes: Number(bytes) };
      });
    },
    async named(org, uid, ids, now) {
      type Named = Row & { o: number; id: string; mid: string; before: number };
      const rows = await reader.allOf<Named>(
        org,
        findNamed,
        ...itemsAfter(org, uid, { past: beginning, log: 0 }, now),
        org,
        JSON.stringify(ids),
      );
      return rows.map(({ o, id, mid, before }) => {
        const offset = Number(o);
        // What is imported later lies between what is imported now and the log.
        return { offset, id, mid, before: offset > 0 ? Math.max(0, Number(before)) : Number(before) };
      });
    },
    async countMissedKept(org, uid, { after, upTo, now, limit }) {
      const [row] = await reader.allOf<{ count: number }>(
        org,
        countMissed,
        ...sentAfter(org, uid, after),
        now,
        upTo,
        limit,
      );
      return Number(row?.count ?? 0);
    },
    async readMissedKept(org, uid, { after, upTo, now, limit, maxBytes }) {
      const values = [...sentAfter(org, uid, after), now, upTo, org, limit, maxBytes];
      return (await reader.allOf<MissedRow>(org, readMissed, ...values)).map(toMissed);
    },
  };
}

function toOffsets([row]: OffsetsRow[]): InboxOffset[] {
  const silent = new Set(numbersIn(row?.silent));
  const offsets = new Float64Array(numbersIn(row?.offsets)).sort().reverse(); // sorts by number, five times as fast as an array
  return Array.from(offsets, (offset) => ({ offset, isSilent: silent.has(offset) }));
}

function numbersIn(text: string | null | undefined): number[] {
  return JSON.parse(`[${text ?? ""}]`);
}

/** The marks in a row of `inbox_mark`. */
export function readMarks(text: string): Marks {
  return JSON.parse(text);
}

/** The `_id` in a stored system message, for one whose retry id is forgotten. */
export function midIn(payload: string): string {
  const message = objectWith(payload, "system_message")?.system_message;
  return isObject(message) && typeof message._id === "string" ? message._id : "";
}

function toMissed({ offset, id, kind, cid, payload, expires_at }: MissedRow): MissedEvent {
  const expiresAt = expires_at === null ? undefined : Number(expires_at);
  const event = { offset: Number(offset), id, kind: kindOf(kind), cid: cid ?? undefined, payload, expiresAt };
  return { ...event, isRecipient: true };
}
