import { timeOf } from "../../lib/timed-ranges.ts";
import { midIn, readMarks } from "../inbox/inbox-reads.ts";
import { placeOf, placeOfUser } from "../inbox/places.ts";
import { noMarks } from "../inbox/ports.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { spans } from "./bounds.ts";
import { decodePlays, noConversation } from "./delivery.ts";
import { hasMember, memberValues } from "./members.ts";
import type { AddressedEvent, UserDeliveryReads } from "./ports.ts";
import { receiptIdOf } from "./receipts.ts";

type EventRow = Row & {
  offset: number;
  id: string;
  kind: string;
  cid: string | null;
  sender: string;
  created_at: number;
  mid: string | null;
  payload: string | null;
  is_for_users: number;
};
type DeliveryRow = Row & { cid: string; audience: string | null; plays: string };
type ReceiptRow = Row & { id: string; plays: string };
type AudienceRow = Row & { id: string; parent: string | null; adds: number; removes: number };
type MarkRow = Row & { cid: string; read_to: number; read_at: number };

/** What is known of a user in the audiences that were read. */
type IsIn = (audience: string) => boolean;

/** Creates the reads of what was addressed to a user. */
export function createUserDeliveryReads({ reader }: { reader: Reader }): UserDeliveryReads {
  const { dialect } = reader;
  const { givenNumbers, givenTexts, givenTuples, joinEach } = dialect;
  const findEvents = `SELECT e."offset", e.id, e.kind, e.cid, e.sender, e.created_at, e.mid, CASE WHEN e.mid IS NULL THEN e.payload END AS payload,
      CASE WHEN e.uids <> '[]' THEN 1 ELSE 0 END AS is_for_users
    FROM event e WHERE e.org = ? AND e."offset" IN (${givenNumbers}) AND e.kind IN ('message', 'system') ORDER BY e."offset" DESC`;
  const aboutStretch = `d.org = ? AND d.cid = asked.v0 AND d.kind = 'delivery' AND d."offset" >= asked.v1 AND d."offset" < asked.v3
    AND d.first_offset <= asked.v2`;
  const findDeliveries = `SELECT d.cid, d.audience, d.plays FROM (${givenTuples("text", "number", "number", "number")}) AS asked
    ${joinEach("delivery", "d", aboutStretch)}
    WHERE d.audience IS NOT NULL OR ${hasMember(dialect, "d.uids")} = 1`;
  const findAudiences = `WITH RECURSIVE chain (org, id, parent) AS (
      SELECT org, id, parent FROM audience WHERE id IN (${givenTexts}) AND org = ?
      UNION SELECT a.org, a.id, a.parent FROM chain JOIN audience a ON a.id = chain.parent AND a.org = chain.org
    )
    SELECT a.id, a.parent, ${hasMember(dialect, "a.added")} AS adds, ${hasMember(dialect, "a.removed")} AS removes
    FROM chain JOIN audience a ON a.id = chain.id AND a.org = chain.org`;
  const findReceipts = `SELECT id, plays FROM delivery WHERE id IN (${givenTexts}) AND org = ?`;
  const findMarks = `SELECT cid, read_to, read_at FROM participant
    WHERE org = ? AND uid = ? AND cid IN (${givenTexts}) AND read_at IS NOT NULL AND read_at_offset = read_to AND read_to > log_start`;
  const findKept = `SELECT i."offset" FROM (${givenTuples("text", "number")}) AS asked
    ${joinEach("inbox", "i", `i.org = ? AND i.place = asked.v0 AND i."offset" = asked.v1`)} WHERE i.mid IS NOT NULL`;
  const findInboxMarks = "SELECT marks FROM inbox_mark WHERE org = ? AND uid = ?";

  async function audiencesOf(org: string, uid: string, ids: readonly string[]): Promise<IsIn> {
    const member = memberValues(uid);
    const values: SqlValue[] = [JSON.stringify(ids), org, ...member, ...member];
    const rows = ids.length === 0 ? [] : await reader.allOf<AudienceRow>(org, findAudiences, ...values);
    const found = new Map(rows.map((row) => [row.id, row]));
    return (id) => {
      let isIn: boolean | undefined;
      for (let next: string | null = id; next !== null; ) {
        const audience = found.get(next);
        if (audience === undefined) return false; // a report claims no more than it can prove
        if (Number(audience.adds) === 1) isIn ??= true;
        if (Number(audience.removes) === 1) isIn ??= false;
        next = audience.parent;
      }
      return isIn ?? false;
    };
  }

  return {
    async addressedAt(org, uid, offsets) {
      const rows = await reader.allOf<EventRow>(org, findEvents, org, JSON.stringify(offsets));
      return rows.map((row) => toEvent(row, uid));
    },
    async deliveredAt(org, uid, events) {
      const times = new Map<number, number>();
      const stretches = stretchesOf(events).map(([cid, first, last]) => [cid, first, last, last + spans.delivery]);
      const asked = JSON.stringify(stretches);
      const rows = await reader.allOf<DeliveryRow>(org, findDeliveries, asked, org, ...memberValues(uid));
      const isIn = await audiencesOf(org, uid, [...new Set(rows.flatMap(({ audience }) => audience ?? []))]);
      const wanted = new Set(events.map(({ offset }) => offset));
      for (const { audience, plays } of rows) {
        if (audience !== null && !isIn(audience)) continue;
        for (const [offset, first] of decodePlays(plays))
          if (wanted.has(offset)) times.set(offset, Math.min(first, times.get(offset) ?? first));
      }
      return times;
    },
    async acknowledgedAt(org, uid, events) {
      const offsetOf = new Map(events.map((event) => [receiptIdOf({ org, id: event.eventId }, uid), event.offset]));
      const rows = await reader.allOf<ReceiptRow>(org, findReceipts, JSON.stringify([...offsetOf.keys()]), org);
      const times = new Map<number, number>();
      for (const { id, plays } of rows) {
        const offset = offsetOf.get(id);
        const [play] = decodePlays(plays);
        if (offset !== undefined && play !== undefined) times.set(offset, play[1]);
      }
      return times;
    },
    async readAt(org, uid, events) {
      const messages = events.filter(({ kind }) => kind === "message");
      const cids = [...new Set(messages.flatMap(({ cid }) => cid ?? []))];
      const kept = events.flatMap(({ kind, place, offset }) => (kind === "system_message" ? [[place, offset]] : []));
      const [marks, inInbox] = await Promise.all([
        cids.length === 0 ? [] : reader.allOf<MarkRow>(org, findMarks, org, uid, JSON.stringify(cids)),
        kept.length === 0 ? [] : reader.allOf<{ offset: number }>(org, findKept, JSON.stringify(kept), org),
      ]);
      const [inbox] = inInbox.length === 0 ? [] : await reader.allOf<{ marks: string }>(org, findInboxMarks, org, uid);
      const { read } = inbox === undefined ? noMarks : readMarks(inbox.marks);
      const markOf = new Map(marks.map((mark) => [mark.cid, mark]));
      const isKept = new Set(inInbox.map(({ offset }) => Number(offset)));
      const times = new Map<number, number>();
      for (const { kind, cid, offset } of events) {
        const time = kind === "message" ? timeBy(markOf.get(cid ?? ""), offset) : timeOf(read, offset);
        if (time !== undefined && (kind === "message" || isKept.has(offset))) times.set(offset, time);
      }
      return times;
    },
  };
}

function toEvent(row: EventRow, uid: string): AddressedEvent {
  const { id: eventId, kind, sender, mid, payload } = row;
  const [offset, createdAt, cid] = [Number(row.offset), Number(row.created_at), row.cid ?? undefined];
  const event = { offset, eventId, cid, sender, createdAt };
  if (kind === "message") return { ...event, kind, id: eventId, place: "" };
  const place = Number(row.is_for_users) === 1 ? placeOfUser(uid) : placeOf(cid);
  // One whose retry id is forgotten has it in its text, unless that was taken back, too.
  return { ...event, kind: "system_message", id: mid ?? (midIn(payload ?? "") || eventId), place };
}

/** Stretches of events of one conversation, each from its first to its last offset, that the same rows may tell about. */
function stretchesOf(events: readonly AddressedEvent[]): [cid: string, first: number, last: number][] {
  const stretches: [string, number, number][] = [];
  for (const [cid, ofCid] of Map.groupBy(events, (event) => event.cid ?? noConversation)) {
    let stretch: [string, number, number] | undefined;
    for (const { offset } of ofCid.toSorted((left, right) => left.offset - right.offset)) {
      if (stretch === undefined || offset - stretch[2] >= spans.delivery) {
        stretch = [cid, offset, offset];
        stretches.push(stretch);
      } else stretch[2] = offset;
    }
  }
  return stretches;
}

/** When a participant's mark was last moved, for what it covers. */
function timeBy(mark: MarkRow | undefined, offset: number): number | undefined {
  return mark !== undefined && offset <= Number(mark.read_to) ? Number(mark.read_at) : undefined;
}
