import { addressOf } from "../../contract/log/log-event.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { spans } from "../delivery/bounds.ts";
import { decodePlays, noConversation } from "../delivery/delivery.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import { isOfConversation } from "../log/past.ts";
import { readAudiences } from "../messages/audience.ts";
import { lasts } from "../messages/expiry-rule.ts";
import type { Reader, Row } from "../sql/driver.ts";
import {
  dueEvents,
  type EventName,
  type EventText,
  type EventTextReads,
  type Fates,
  type ReportedEvent,
  type UnreachedReads,
} from "./ports.ts";

type EventRow = Row & {
  org: string;
  id: string;
  offset: number;
  kind: "message" | "system";
  cid: string | null;
  bytes: number;
  listed: number | null;
  participants: number | null;
};
type ParticipantRow = Row & { org: string; cid: string; uid: string; log_start: number };
type Tuple = [org: string, id: string];
type UserRow = Row & { org: string; id: string; log_start: number };
type RecipientRow = Row & { uid: string; log_start: number };
type PlayRow = Row & { org: string; cid: string; audience: string | null; uids: string | null; plays: string };
type ReceiptRow = Row & { org: string; cid: string; offset: number; uids: string };
/** How many rows say that a user was given an event, and that the user was away then; and who has acknowledged it. */
type Found = { delivered: Map<string, number>; away: Map<string, number>; acknowledged: Set<string> };
/** Events of one conversation, by offset: from `first` to `last`. */
type Stretch = { org: string; cid: string; first: number; last: number; events: Map<number, Found> };

const nobody: Fates = { delivered: new Set(), away: new Set(), acknowledged: new Set() };
const emptyListBytes = "[]".length;
const bytesOfShortestListed = `"a",`.length;
const dueRows = `SELECT org, "offset", webhook, event_id, due_at, told FROM webhook_due`;
const findDue = `${dueRows} WHERE due_at <= ?
  ORDER BY due_at, org, "offset", webhook LIMIT ?`;
const findOrganizations = `WITH RECURSIVE place (org) AS (
    SELECT MIN(org) FROM webhook_due WHERE org > ?
    UNION ALL SELECT (SELECT MIN(org) FROM webhook_due WHERE org > place.org) FROM place WHERE place.org IS NOT NULL)
  SELECT org FROM place WHERE (SELECT MIN(due_at) FROM webhook_due AS due WHERE due.org = place.org) <= ? LIMIT ?`;
const findDueOf = `${dueRows} WHERE org = ? AND due_at <= ?
  ORDER BY due_at, "offset", webhook LIMIT ?`;
const pageOfParticipants = `SELECT uid, log_start FROM participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?`;
const pageOfUsers = `SELECT id AS uid, log_start FROM "user" WHERE org = ? AND id > ? AND deleted_at IS NULL
  ORDER BY id LIMIT ?`;

/** Creates the reads of what webhooks tell, each of which is one query for any number of events. */
export function createUnreachedReads({ reader }: { reader: Reader }): UnreachedReads & EventTextReads {
  const { dialect } = reader;
  const { givenTuples } = dialect;
  // Events are found by their ids first: PostgreSQL would else read all of an organization, to see that it is there.
  const found = (columns: string) => `WITH found AS MATERIALIZED (
      SELECT ${columns} FROM (${givenTuples("text", "text")}) AS asked JOIN event e ON e.id = asked.v1 AND e.org || '' = asked.v0
      WHERE e.kind IN ('message', 'system') AND ${lasts(dialect, "e")})`;
  const live = `FROM found e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid
    WHERE (e.cid IS NULL OR ${isOfConversation}) AND ${isLiveOrganization("e.org")}`;
  const findEvents = `${found(`e.org, e.id, e."offset", e.kind, e.cid, OCTET_LENGTH(e.payload) AS bytes, OCTET_LENGTH(e.uids) AS listed`)}
    SELECT e.org, e.id, e."offset", e.kind, e.cid, e.bytes, e.listed, c.participants ${live}`;
  const findTexts = `${found(`e.org, e.id, e."offset", e.kind, e.cid, e.payload`)} SELECT e.org, e.id, e.kind, e.payload ${live}`;
  const findLists = `${found("e.id, e.uids")} SELECT id, uids FROM found WHERE uids IS NOT NULL`;
  const findParticipants = `SELECT p.org, p.cid, p.uid, p.log_start
    FROM (${givenTuples("text", "text")}) AS asked JOIN participant p ON p.org = asked.v0 AND p.cid = asked.v1`;
  const findUsers = `SELECT u.org, u.id, u.log_start
    FROM (${givenTuples("text", "text")}) AS asked JOIN "user" u ON u.org = asked.v0 AND u.id = asked.v1 WHERE u.deleted_at IS NULL`;

  /** Rows of the organizations that the tuples begin with. */
  async function find<Shape extends Row>(text: string, tuples: readonly Tuple[]): Promise<Shape[]> {
    if (tuples.length === 0) return [];
    return await reader.allOf<Shape>([...new Set(tuples.map(([org]) => org))], text, JSON.stringify(tuples));
  }

  return {
    due: (now, limit) => dueEvents.readAll(reader.all(findDue, now, limit)),
    async dueOfEach(now, { after, orgs, each }) {
      const found = await reader.all<{ org: string }>(findOrganizations, after, now, orgs);
      return await Promise.all(found.map(({ org }) => dueEvents.readAll(reader.all(findDueOf, org, now, each))));
    },
    events: async (events) => (await find<EventRow>(findEvents, events.map(tupleOf))).map(toEvent),
    texts: (events) => find<EventText>(findTexts, events.map(tupleOf)),
    async lists(events) {
      const rows = await find<{ id: string; uids: string }>(findLists, events.map(tupleOf));
      return new Map(rows.map(({ id, uids }) => [id, JSON.parse(uids)]));
    },
    fates: createFateReader(reader),
    async participants(conversations) {
      const tuples = conversations.map(({ org, cid }): Tuple => [org, cid]);
      const rows = await find<ParticipantRow>(findParticipants, tuples);
      return rows.map(({ org, cid, uid, log_start }) => ({ org, cid, uid, after: Number(log_start) }));
    },
    async users(named) {
      const tuples = named.map(({ org, uid }): Tuple => [org, uid]);
      const rows = await find<UserRow>(findUsers, tuples);
      return rows.map(({ org, id, log_start }) => ({ org, uid: id, after: Number(log_start) }));
    },
    async recipientsOf(event, { after, limit }) {
      const { org, cid = "", offset, address } = event;
      const rows =
        address === "everyone"
          ? await reader.allOf<RecipientRow>(org, pageOfUsers, org, after, limit)
          : await reader.allOf<RecipientRow>(org, pageOfParticipants, org, cid, after, limit);
      return rows.map(({ uid, log_start }) => ({ uid, isRecipient: Number(log_start) < offset }));
    },
  };
}

function tupleOf({ org, id }: EventName): Tuple {
  return [org, id];
}

function toEvent({ org, id, offset, kind, cid, bytes, listed, participants }: EventRow): ReportedEvent {
  const address = kind === "message" ? "conversation" : addressOfRow(cid, listed);
  return {
    org,
    id,
    offset: Number(offset),
    kind,
    cid: cid ?? undefined,
    bytes: Number(bytes),
    address,
    recipients: address === "users" ? Number(listed ?? 0) / bytesOfShortestListed : Number(participants ?? 0),
  };
}

/** Like `addressOf` for a system message, of whose list only the length is known. */
function addressOfRow(cid: string | null, listed: number | null): ReportedEvent["address"] {
  const isEmpty = listed !== null && Number(listed) === emptyListBytes;
  return addressOf({ cid: cid ?? undefined, uids: isEmpty ? [] : undefined });
}

/**
 * Creates the function that reads who has any number of events, in three queries. Like the delivery report, it ignores
 * deliveries whose audience is gone.
 */
function createFateReader(reader: Reader): UnreachedReads["fates"] {
  const { givenTuples, joinEach } = reader.dialect;
  const findPlays = (kind: "delivery" | "away") => {
    const aboutStretch = `d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = '${kind}' AND d."offset" >= asked.v2
      AND d."offset" < asked.v4 AND d.first_offset <= asked.v3`;
    return `SELECT d.org, d.cid, d.audience, d.uids, d.plays
      FROM (${givenTuples("text", "text", "number", "number", "number")}) AS asked ${joinEach("delivery", "d", aboutStretch)}`;
  };
  const playsOf = { delivery: findPlays("delivery"), away: findPlays("away") };
  const aboutEvent = `d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = 'receipt' AND d."offset" = asked.v2
    AND d.connections = 1`;
  const findReceipts = `SELECT d.org, d.cid, d."offset", d.uids
    FROM (${givenTuples("text", "text", "number")}) AS asked ${joinEach("delivery", "d", aboutEvent)}`;

  return async (events) => {
    const orgs = [...new Set(events.map(({ org }) => org))];
    const stretches = stretchesOf(events);
    if (stretches.size === 0) return new Map();
    const all = [...stretches.values()];
    const findAll = (kind: "delivery" | "away") => {
      const asked = all.map(({ org, cid, first, last }) => [org, cid, first, last, last + spans[kind]]);
      return reader.allOf<PlayRow>(orgs, playsOf[kind], JSON.stringify(asked));
    };
    const offsets = all.flatMap(({ org, cid, events: at }) => Array.from(at.keys(), (offset) => [org, cid, offset]));
    const [delivered, away, receipts] = await Promise.all([
      findAll("delivery"),
      findAll("away"),
      reader.allOf<ReceiptRow>(orgs, findReceipts, JSON.stringify(offsets)),
    ]);
    const named = new Set([...delivered, ...away].flatMap(({ audience }) => audience ?? []));
    const usersOf = await readAudiences(reader, orgs, named);
    const countIn = (rows: readonly PlayRow[], kind: "delivered" | "away") => {
      for (const { org, cid, audience, uids, plays: text } of rows) {
        const stretch = stretches.get(joinIds(org, cid));
        const found = decodePlays(text).flatMap(([offset]) => stretch?.events.get(offset) ?? []);
        if (found.length === 0) continue;
        const users: readonly string[] = audience === null ? JSON.parse(uids ?? "[]") : (usersOf(audience) ?? []);
        for (const { [kind]: counts } of found) for (const uid of users) counts.set(uid, (counts.get(uid) ?? 0) + 1);
      }
    };
    countIn(delivered, "delivered");
    countIn(away, "away");
    for (const { org, cid, offset, uids } of receipts) {
      const acknowledged = stretches.get(joinIds(org, cid))?.events.get(Number(offset))?.acknowledged;
      for (const uid of JSON.parse(uids)) acknowledged?.add(uid);
    }
    return new Map(
      events.map((event) => {
        const stretch = stretches.get(joinIds(event.org, event.cid ?? noConversation));
        const found = stretch?.events.get(event.offset);
        return [event.id, found === undefined ? nobody : fatesOf(found)];
      }),
    );
  };
}

/** A user was away if each node that gave the event to the user says so. */
function fatesOf({ delivered, away, acknowledged }: Found): Fates {
  const were = Array.from(away).flatMap(([uid, count]) => (count >= (delivered.get(uid) ?? 0) ? [uid] : []));
  return { delivered: new Set(delivered.keys()), away: new Set(were), acknowledged };
}

function stretchesOf(events: readonly ReportedEvent[]): Map<string, Stretch> {
  const stretches = new Map<string, Stretch>();
  for (const { org, cid = noConversation, offset } of events) {
    const place = joinIds(org, cid);
    const stretch = stretches.get(place) ?? { org, cid, first: offset, last: offset, events: new Map() };
    stretches.set(place, stretch);
    stretch.first = Math.min(stretch.first, offset);
    stretch.last = Math.max(stretch.last, offset);
    stretch.events.set(offset, { delivered: new Map(), away: new Map(), acknowledged: new Set() });
  }
  return stretches;
}
