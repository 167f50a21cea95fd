import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { placeOf, placeOfUser } from "../inbox/places.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { addressedAfter } from "./addressees.ts";
import { hasMember, memberValues } from "./members.ts";
import type { NewestEvents } from "./ports.ts";

/** A part of a conversation that was addressed to a user, and is not read yet: after one offset, up to another. */
type Span = { cid: string; after: number; upTo: number };

/** What was found, in no order; everything there lies after `floor`. */
type Part = { offsets: number[]; floor: number };

type SpanRow = Row & { cid: string; after: number; up_to: number };
type LookedRow = Row & { span: number; offsets: string | null };

// Of a conversation, a first look reads a few events, the next ones up to four times as many.
const fewest = 4;
const growth = 4;
const mostPerLook = 8_000;
const mostPerPage = 40_000;
const spansPerQuery = 1_000;
const end = Number.MAX_SAFE_INTEGER;

// As `stays` of recipients, of conversations as they were last created.
const findSpans = `SELECT s.cid, CASE WHEN s.log_start > c.log_start THEN s.log_start ELSE c.log_start END AS after, s.log_end AS up_to
  FROM (
    SELECT p.cid, p.log_start, CAST(${end} AS BIGINT) AS log_end FROM participant p WHERE p.org = ? AND p.uid = ?
    UNION ALL SELECT f.cid, f.log_start, f.log_end FROM former_participant f WHERE f.org = ? AND f.uid = ? AND f.log_start >= 0
  ) AS s JOIN conversation c ON c.org = ? AND c.id = s.cid`;

const findNamed = `SELECT "offset" FROM addressee WHERE org = ? AND place = ? AND "offset" < ? ORDER BY "offset" DESC LIMIT ?`;
const findCommon = `SELECT "offset" FROM addressee WHERE org = ? AND place = ? AND "offset" < ?
  AND "offset" > (SELECT log_start FROM "user" u WHERE u.org = ? AND u.id = ?) ORDER BY "offset" DESC LIMIT ?`;

/**
 * Creates what finds the newest events that were addressed to a user, over all conversations: a merge that reads a conversation
 * further only while everything read of it belongs to the page.
 */
export function createNewestEvents({ reader }: { reader: Reader }): NewestEvents {
  const { dialect } = reader;
  // Both engines read the inner list from an index alone. Events of other kinds are counted, so that a look is bounded.
  const look = `SELECT asked.v0 AS span, (
      SELECT ${dialect.joined(`CASE WHEN newest.kind IN ('message', 'system') THEN newest."offset" ELSE -newest."offset" END`)}
      FROM (SELECT e."offset", e.kind FROM event e
        WHERE e.org = ? AND e.cid = asked.v1 AND e."offset" > asked.v2 AND e."offset" <= asked.v3
        ORDER BY e."offset" DESC LIMIT ?) AS newest) AS offsets
    FROM (${dialect.givenTuples("number", "text", "number", "number")}) AS asked`;
  const findUnlisted = `SELECT "offset", CASE WHEN uids = '[]' THEN 2 ELSE ${hasMember(dialect, "uids")} END AS is_mine
    ${addressedAfter(dialect, "(SELECT COALESCE(MAX(up_to), 0) FROM addressees a WHERE a.org = ?)")} AND "offset" < ?
    ORDER BY "offset" DESC LIMIT ?`;
  const findStart = `SELECT log_start FROM "user" WHERE org = ? AND id = ?`;

  async function lookInto(org: string, spans: readonly Span[], quota: number): Promise<Map<number, number[]>> {
    const found = new Map<number, number[]>();
    for (let from = 0; from < spans.length; from += spansPerQuery) {
      const some = spans.slice(from, from + spansPerQuery);
      const asked = some.map(({ cid, after, upTo }, index) => [from + index, cid, after, upTo]);
      const rows = await reader.allOf<LookedRow>(org, look, org, quota, JSON.stringify(asked));
      for (const { span, offsets } of rows) found.set(Number(span), JSON.parse(`[${offsets ?? ""}]`));
    }
    return found;
  }

  /** The newest events in conversations before an offset. */
  async function inConversations(org: string, uid: string, before: number, limit: number): Promise<Part> {
    const rows = await reader.allOf<SpanRow>(org, findSpans, org, uid, org, uid, org);
    let open = rows
      .map(({ cid, after, up_to }) => ({ cid, after: Number(after), upTo: Math.min(Number(up_to), before - 1) }))
      .filter(isLeft);
    let offsets: number[] = [];
    let looked = 0;
    let quota = Math.min(limit, Math.max(fewest, Math.ceil((growth * limit) / Math.max(1, open.length))));
    while (open.length > 0 && looked < mostPerPage) {
      const found = await lookInto(org, open, quota);
      for (const events of found.values()) {
        looked += events.length;
        offsets.push(...events.filter((offset) => offset > 0));
      }
      offsets = offsets.sort((left, right) => right - left).slice(0, limit);
      const last = offsets.length < limit ? 0 : (offsets.at(-1) ?? 0);
      open = open
        .map((span, index) => ({ ...span, upTo: endOfLook(found.get(index) ?? [], quota) }))
        .filter((span) => isLeft(span) && span.upTo > last);
      quota = Math.max(1, Math.min(quota * growth, Math.floor(mostPerLook / Math.max(1, open.length))));
    }
    return { offsets, floor: Math.max(0, ...open.map(({ upTo }) => upTo)) };
  }

  /** The system messages to the user or to everyone of which no rows of addressees are written yet. */
  async function unlisted(org: string, uid: string, before: number): Promise<Part> {
    type Found = Row & { offset: number; is_mine: number };
    const values = [...memberValues(uid), org, org, before, rowsOfStatement];
    const rows = await reader.allOf<Found>(org, findUnlisted, ...values);
    const [user] = rows.length === 0 ? [] : await reader.allOf<{ log_start: number }>(org, findStart, org, uid);
    const start = Number(user?.log_start ?? end);
    const mine = rows.filter(
      ({ offset, is_mine }) => Number(is_mine) === 1 || (Number(is_mine) === 2 && offset > start),
    );
    const last = rows.length < rowsOfStatement ? 1 : Number(rows.at(-1)?.offset);
    return { offsets: mine.map(offsetOf), floor: last - 1 };
  }

  async function listed(org: string, uid: string, before: number, limit: number): Promise<Part> {
    const [named, common] = await Promise.all([
      reader.allOf<{ offset: number }>(org, findNamed, org, placeOfUser(uid), before, limit),
      reader.allOf<{ offset: number }>(org, findCommon, org, placeOf(undefined), before, org, uid, limit),
    ]);
    return { offsets: [...named, ...common].map(offsetOf), floor: 0 };
  }

  return {
    async newestFor(org, uid, { before = end, limit }) {
      const wanted = limit + 1;
      // What is not listed comes first: it may be listed meanwhile.
      const tail = await unlisted(org, uid, before);
      const parts = [
        tail,
        ...(await Promise.all([listed(org, uid, before, wanted), inConversations(org, uid, before, wanted)])),
      ];
      const floor = Math.max(...parts.map((part) => part.floor));
      const known = new Set(parts.flatMap(({ offsets }) => offsets).filter((offset) => offset > floor));
      const offsets = [...known].sort((left, right) => right - left);
      if (offsets.length > limit) return { offsets: offsets.slice(0, limit), next: offsets[limit - 1] };
      return { offsets, next: floor === 0 ? undefined : floor + 1 };
    },
  };
}

const isLeft = ({ after, upTo }: Span) => after < upTo;

const offsetOf = ({ offset }: { offset: number }) => Number(offset);

/** Up to which offset a span is not read yet; 0 if all of it is. */
function endOfLook(events: readonly number[], quota: number): number {
  return events.length < quota ? 0 : Math.min(...events.map(Math.abs)) - 1;
}
