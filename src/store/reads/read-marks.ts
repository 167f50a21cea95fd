import { maxReadIds } from "../../contract/messages/reads.ts";
import type { LogWriter } from "../log/log-writer.ts";
import { isIn, isMessageOf } from "../log/past.ts";
import { hasText } from "../messages/expiry-rule.ts";
import type { Reader, Row, Rows } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import type { NewRead, ReadMarkReads, ReadMarkWrites, UnreadMessage } from "./ports.ts";
import { eventKey, type Place, placeKey, planReads } from "./read-plan.ts";
import { readTo, readUnread } from "./unread.ts";

type PlaceRow = {
  head: number;
  cid: string | null;
  log_start: number;
  past_start: number | null;
  read_to: number | null;
};
type MarkRow = Row & { org: string; cid: string; uid: string; log_start: number; read_to: number | null };

const findPlace = `SELECT o.head, c.id AS cid, c.log_start, c.past_start, ${readTo} AS read_to FROM organization o
  LEFT JOIN conversation c ON c.org = o.id AND c.id = ?
  LEFT JOIN participant p ON p.org = o.id AND p.cid = c.id AND p.uid = ?
  WHERE o.id = ? AND o.deleted_at IS NULL`;

/** Creates the reads of read marks. They run beside the commits, which look only at the marks again. */
export function createReadMarkReads({ reader }: { reader: Reader }): ReadMarkReads {
  const { now, givenTexts } = reader.dialect;
  const findUnread = readUnread({ org: "?", cid: "?", after: "?", upTo: "?", uid: "?", now }, maxReadIds);
  // COALESCE keeps SQLite from reading the whole conversation, or PostgreSQL from planning to.
  const findNamed = `SELECT "offset", id FROM event
    WHERE org = ? AND id IN (${givenTexts}) AND COALESCE(cid, '') = ? AND ${isMessageOf("event")}
      AND ${hasText({ now }, "event")}`;
  const findParticipants = `SELECT uid FROM participant WHERE org = ? AND cid = ? AND uid IN (${givenTexts})`;

  /** The offset of the newest of the messages, or the id of one that is not of the conversation, or taken back. */
  async function newestOf(org: string, place: PlaceRow, ids: readonly string[]): Promise<number | string> {
    const distinct = [...new Set(ids)];
    const asked = JSON.stringify(distinct);
    const named = await reader.allOf<{ offset: number; id: string }>(org, findNamed, org, asked, place.cid);
    const found = named.filter((event) => isIn(place, event));
    const offsets = new Map(found.map(({ id, offset }) => [id, Number(offset)]));
    const missing = distinct.find((id) => !offsets.has(id));
    return missing ?? Math.max(...offsets.values());
  }

  return {
    async scopeOf({ org, cid, uid, ids }) {
      const [place] = await reader.allOf<PlaceRow>(org, findPlace, cid, uid, org);
      if (place === undefined) return { outcome: "refused", missing: "organization" };
      if (place.cid === null) return { outcome: "refused", missing: "conversation" };
      if (place.read_to === null) return { outcome: "refused", missing: "participant" };
      const upTo = ids === undefined ? Number(place.head) : await newestOf(org, place, ids);
      if (typeof upTo === "string") return { outcome: "refused", missing: "message", message: upTo };
      const after = Number(place.read_to);
      if (upTo <= after) return { outcome: "found", unread: [] };
      const newestFirst = await reader.allOf<UnreadMessage>(org, findUnread, org, cid, after, upTo, uid);
      const unread = newestFirst.map(({ offset, id, sender }) => ({ offset: Number(offset), id, sender })).reverse();
      return { outcome: "found", unread };
    },
    async participantsAmong(org, cid, uids) {
      const found = await reader.allOf<{ uid: string }>(org, findParticipants, org, cid, JSON.stringify(uids));
      return found.map(({ uid }) => uid);
    },
  };
}

/** Creates the writes of read marks. A commit costs the same statements for many reads as for one. */
export function createReadMarkWrites({ writer }: { writer: LogWriter }): ReadMarkWrites {
  return {
    async markAll(reads) {
      const orgs = [...new Set(reads.map(({ org }) => org))];
      return await writer.transaction(orgs, async (transaction) => {
        const { heads, sql } = transaction;
        const live = reads.filter(({ org }) => heads.has(org));
        const [marks, participants, ids] = await Promise.all([
          findMarks(sql.rows, live),
          findAuthors(sql.rows, live),
          findIds(sql.rows, live),
        ]);
        const { results, moved, events, read } = planReads(reads, { marks, participants, ids });
        for (const event of events) transaction.emit(event);
        for (const { org, notice } of read) transaction.notify(org, notice);
        sql.lastly(sql.rows.update("participant", ["org", "cid", "uid"], moved));
        return results;
      });
    },
  };
}

/** The marks of those who take part: the offset up to which they have read, or from which they take part. */
async function findMarks(rows: Rows, reads: NewRead[]): Promise<Map<string, number>> {
  const keys = distinctRows(reads.map(({ org, cid, uid }) => ({ org, cid, uid })));
  const found = await rows.find<MarkRow>("participant", ["org", "cid", "uid", "log_start", "read_to"], keys);
  return new Map(found.map((row) => [placeKey(row), Math.max(Number(row.log_start), Number(row.read_to ?? 0))]));
}

async function findAuthors(rows: Rows, reads: NewRead[]): Promise<Set<string>> {
  const authors = reads.flatMap(({ org, cid, unread }) => unread.map(({ sender }) => ({ org, cid, uid: sender })));
  const found = await rows.find<Row & Place>("participant", ["org", "cid", "uid"], distinctRows(authors));
  return new Set(found.map(placeKey));
}

/** The ids of the events that stand where the newest message of each read stood. */
async function findIds(rows: Rows, reads: NewRead[]): Promise<Map<string, string>> {
  type Found = Row & { org: string; offset: number; id: string };
  const newest = reads.flatMap(({ org, unread }) => unread.slice(-1).map(({ offset }) => ({ org, offset })));
  const found = await rows.find<Found>("event", ["org", "offset", "id"], distinctRows(newest));
  return new Map(found.map(({ org, offset, id }) => [eventKey({ org, offset: Number(offset) }), id]));
}
