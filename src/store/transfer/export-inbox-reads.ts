import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { itemsAfter, itemsOf, readMarks } from "../inbox/inbox-reads.ts";
import { behindConversations, cidOf, cidOfEveryone, ends, pastOf, placeOf, wasThere } from "../inbox/places.ts";
import { payloadOfPage, withinBytes } from "../log/page-bytes.ts";
import { isOfConversation, isSystemMessage } from "../log/past.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import type { ExportedStays, ExportOf, InboxExportReads, Range } from "./ports.ts";

type NameRow = Row & { offset: number; sender: string; id: string; created_at: number };
type ItemRow = NameRow & { cid: string | null; kept_until: number; payload: string };
type StayRow = Row & { uid: string; after: number; up_to: number; is_there: number };

/** How many bytes a page of an export has, or slightly more. */
export const bytesOfPage = 256 * 1024;

/** The SQL condition that a row of `inbox` is exported: it is kept, or decides what its key has replaced. Its value is the time. */
export const isKeptOrKeyed = (row: string) =>
  `((${row}.mid IS NOT NULL AND ${row}.kept_until > ?) OR ${row}.sender_key IS NOT NULL)`;

const findConversation = `SELECT MIN(place) AS place FROM inbox WHERE org = ? AND place > ? AND place < '${behindConversations}'`;
const isAddressed = (end: string) => `FROM inbox i JOIN event e ON e.org = i.org AND e."offset" = i."offset"
  LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid
  WHERE i.org = ? AND i.place = ? AND ${isKeptOrKeyed("i")} AND ${isSystemMessage("e")} AND (e.cid IS NULL OR ${isOfConversation}) AND ${end}`;

const findUsers = `SELECT id AS uid FROM "user" WHERE org = ? AND id > ? AND deleted_at IS NULL AND log_start <= ? ORDER BY id LIMIT ?`;
const findThoseInvolved = `SELECT uid FROM (
    SELECT uid FROM (SELECT uid FROM participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?) AS present
    UNION SELECT uid FROM (
      SELECT DISTINCT uid FROM former_participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?) AS former) AS involved
  ORDER BY uid LIMIT ?`;
const present = (
  table: string,
  uid: string,
  where: string,
) => `SELECT p.${uid} AS uid, p.log_start AS after, ${ends.log} AS up_to, 1 AS is_there
    FROM ${table} p WHERE p.org = ? AND p.${uid} > ? AND p.${uid} <= ? AND ${where}
  UNION ALL SELECT p.${uid}, ${pastOf("p")}, ${ends.past}, 1 FROM ${table} p WHERE p.org = ? AND p.${uid} > ? AND p.${uid} <= ? AND ${where}`;
const former = `SELECT f.uid, f.log_start, f.log_end, 0 FROM former_participant f
    JOIN "user" u ON u.org = f.org AND u.id = f.uid AND ${wasThere}
  WHERE f.org = ? AND f.uid > ? AND f.uid <= ? AND f.cid = ?`;
const staysOfUsers = `${present('"user"', "id", "p.deleted_at IS NULL")} UNION ALL ${former}`;
const staysOfParticipants = `${present("participant", "uid", "p.cid = ?")} UNION ALL ${former}`;

const findMarks = "SELECT uid, marks FROM inbox_mark WHERE org = ? AND uid > ? ORDER BY uid LIMIT ?";
const fromItems =
  'FROM items JOIN event e ON e.org = ? AND e."offset" = items.o WHERE items.o > ? AND items.o <= ? ORDER BY items.o';

/** The values of `items` and `fromItems`. */
function itemsIn({ org, head, now }: ExportOf, uid: string, { after, upTo }: Range): SqlValue[] {
  const start = after < 0 ? { past: after, log: 0 } : { past: 0, log: after };
  return [...itemsAfter(org, uid, start, now), org, after, Math.min(upTo, head)];
}

/** Creates the reads of what exports contain of inboxes. */
export function createInboxExportReads({ reader }: { reader: Reader }): InboxExportReads {
  const { givenNumbers } = reader.dialect;
  const items = itemsOf(reader.dialect);
  const findItems = `${items} SELECT items.o AS "offset", items.mid AS id, e.sender, e.created_at ${fromItems} LIMIT ${rowsOfStatement}`;
  const readItems = withinBytes(
    `${items} SELECT items.o AS "offset", items.mid AS id, items.kept_until, e.org, e.sender, e.cid, e.created_at,
      OCTET_LENGTH(e.payload) AS bytes ${fromItems} LIMIT ${rowsOfStatement}`,
    {
      columns: `"offset", id, kept_until, sender, cid, created_at, ${payloadOfPage}`,
      maxBytes: bytesOfPage,
    },
  );
  const findAddressed = `SELECT i."offset" ${isAddressed('i."offset" <= ? ORDER BY i."offset"')}`;
  const findNames = `SELECT i."offset", e.sender, COALESCE(i.mid, e.id) AS id, e.created_at
    ${isAddressed(`i."offset" IN (${givenNumbers})`)}`;

  return {
    async nextConversation({ org }, after) {
      const [row] = await reader.allOf<{ place: string | null }>(org, findConversation, org, placeOf(after));
      return row?.place == null ? undefined : cidOf(row.place);
    },
    async addressed({ org, head, now }, cid) {
      const rows = await reader.allOf<{ offset: number }>(org, findAddressed, org, placeOf(cid), now, head);
      return rows.map(({ offset }) => Number(offset));
    },
    async names({ org, now }, cid, offsets) {
      const rows = await reader.allOf<NameRow>(org, findNames, org, placeOf(cid), now, JSON.stringify(offsets));
      return new Map(rows.map((row) => [Number(row.offset), toName(row)]));
    },
    async stays({ org, head }, cid, after, limit) {
      const involved = [org, cid ?? cidOfEveryone, after, limit];
      const people =
        cid === undefined
          ? await reader.allOf<{ uid: string }>(org, findUsers, org, after, head, limit)
          : await reader.allOf<{ uid: string }>(org, findThoseInvolved, ...involved, ...involved, limit);
      const last = people.at(-1)?.uid;
      if (last === undefined) return [];
      const range = [org, after, last];
      const rows =
        cid === undefined
          ? await reader.allOf<StayRow>(org, staysOfUsers, ...range, ...range, ...range, cidOfEveryone)
          : await reader.allOf<StayRow>(org, staysOfParticipants, ...range, cid, ...range, cid, ...range, cid);
      const ofUser = Map.groupBy(rows, ({ uid }) => uid);
      return people.map(({ uid }): ExportedStays => {
        const stays = ofUser.get(uid) ?? [];
        const ranges = stays.map((stay) => ({ after: Number(stay.after), upTo: Number(stay.up_to) }));
        return { uid, isThere: stays.some(({ is_there }) => Number(is_there) === 1), ranges };
      });
    },
    async marks({ org }, after, limit) {
      type Found = { uid: string; marks: string };
      const rows = await reader.allOf<Found>(org, findMarks, org, after, limit);
      return rows.map(({ uid, marks }) => ({ uid, marks: readMarks(marks) }));
    },
    async items(of, uid, range) {
      const rows = await reader.allOf<NameRow>(of.org, findItems, ...itemsIn(of, uid, range));
      return rows.map((row) => ({ ...toName(row), offset: Number(row.offset) }));
    },
    async inbox(of, uid, after) {
      const values = itemsIn(of, uid, { after, upTo: of.head });
      const rows = await reader.allOf<ItemRow>(of.org, readItems, ...values);
      return rows.map((row) => {
        const { offset, cid, kept_until, payload } = row;
        const place = { offset: Number(offset), cid: cid ?? undefined };
        return { ...toName(row), ...place, keptUntil: Number(kept_until), payload };
      });
    },
  };
}

function toName({ sender, id, created_at }: NameRow) {
  return { sender, id, createdAt: Number(created_at) };
}
