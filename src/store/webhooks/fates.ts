import { spans } from "../delivery/bounds.ts";
import { decodePlays, noConversation } from "../delivery/delivery.ts";
import type { Reader, Row } from "../sql/driver.ts";
import type { Fates, ReportedEvent, UnreachedReads } from "./ports.ts";

type PlayRow = Row & { org: string; cid: string; audience: string | null; uids: string | null; plays: string };
type ReceiptRow = Row & { org: string; cid: string; offset: number; uids: string };
type AudienceRow = Row & { id: string; parent: string | null; added: string; removed: string };
type Audiences = Map<string, { parent: string | null; added: string[]; removed: string[] }>;
type Found = { delivered: Set<string>; acknowledged: Set<string> };
/** Events of one conversation, by offset: from `first` to `last`. */
type Stretch = { org: string; cid: string; first: number; last: number; events: Map<number, Found> };

const nobody: Fates = { delivered: new Set(), acknowledged: new Set() };

/**
 * Creates the function that reads who has any number of events, in three queries. Like the delivery report, it ignores
 * deliveries whose audience is gone.
 */
export function createFateReader(reader: Reader): UnreachedReads["fates"] {
  const { textsOf, tuplesOf } = reader.dialect;
  const findPlays = `SELECT d.org, d.cid, d.audience, d.uids, d.plays
    FROM (${tuplesOf("?", 4)}) AS asked JOIN delivery d ON d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = 'delivery'
      AND d."offset" >= CAST(asked.v2 AS BIGINT) AND d."offset" < CAST(asked.v3 AS BIGINT) + ${spans.delivery}
      AND d.first_offset <= CAST(asked.v3 AS BIGINT)`;
  const findReceipts = `SELECT d.org, d.cid, d."offset", d.uids
    FROM (${tuplesOf("?", 3)}) AS asked JOIN delivery d ON d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = 'receipt'
      AND d."offset" = CAST(asked.v2 AS BIGINT) AND d.connections = 1`;
  // Each ancestor once, however many have it.
  const findAudiences = `WITH RECURSIVE chain (org, id, parent, added, removed) AS (
      SELECT org, id, parent, added, removed FROM audience WHERE id IN (${textsOf("?")})
      UNION
      SELECT a.org, a.id, a.parent, a.added, a.removed FROM chain JOIN audience a ON a.id = chain.parent AND a.org = chain.org
    )
    SELECT id, parent, added, removed FROM chain`;

  async function readAudiences(orgs: string[], plays: readonly PlayRow[]): Promise<Audiences> {
    const ids = new Set(plays.flatMap(({ audience }) => audience ?? []));
    if (ids.size === 0) return new Map();
    const rows = await reader.allOf<AudienceRow>(orgs, findAudiences, JSON.stringify([...ids]));
    return new Map(
      rows.map(({ id, parent, added, removed }) => [
        id,
        { parent, added: JSON.parse(added), removed: JSON.parse(removed) },
      ]),
    );
  }

  return async (events) => {
    const orgs = [...new Set(events.map(({ org }) => org))];
    const stretches = stretchesOf(events);
    if (stretches.size === 0) return new Map();
    const all = [...stretches.values()];
    const asked = all.map(({ org, cid, first, last }) => [org, cid, first, last]);
    const offsets = all.flatMap(({ org, cid, events: at }) => Array.from(at.keys(), (offset) => [org, cid, offset]));
    const [plays, receipts] = await Promise.all([
      reader.allOf<PlayRow>(orgs, findPlays, JSON.stringify(asked)),
      reader.allOf<ReceiptRow>(orgs, findReceipts, JSON.stringify(offsets)),
    ]);
    const readUsers = usersOf(await readAudiences(orgs, plays));
    for (const { org, cid, audience, uids, plays: text } of plays) {
      const stretch = stretches.get(placeOf(org, cid));
      const found = decodePlays(text).flatMap(([offset]) => stretch?.events.get(offset) ?? []);
      if (found.length === 0) continue;
      const users = audience === null ? JSON.parse(uids ?? "[]") : readUsers(audience);
      for (const { delivered } of found) for (const uid of users) delivered.add(uid);
    }
    for (const { org, cid, offset, uids } of receipts) {
      const acknowledged = stretches.get(placeOf(org, cid))?.events.get(Number(offset))?.acknowledged;
      for (const uid of JSON.parse(uids)) acknowledged?.add(uid);
    }
    return new Map(
      events.map((event) => {
        const stretch = stretches.get(placeOf(event.org, event.cid ?? noConversation));
        return [event.id, stretch?.events.get(event.offset) ?? nobody];
      }),
    );
  };
}

function placeOf(org: string, cid: string): string {
  return JSON.stringify([org, cid]);
}

function stretchesOf(events: readonly ReportedEvent[]): Map<string, Stretch> {
  const stretches = new Map<string, Stretch>();
  for (const { org, cid = noConversation, offset } of events) {
    const place = placeOf(org, cid);
    const stretch = stretches.get(place) ?? { org, cid, first: offset, last: offset, events: new Map() };
    stretches.set(place, stretch);
    stretch.first = Math.min(stretch.first, offset);
    stretch.last = Math.max(stretch.last, offset);
    stretch.events.set(offset, { delivered: new Set(), acknowledged: new Set() });
  }
  return stretches;
}

/** The users of audiences: all changes since the first ancestor, applied. None if part of the chain is gone. */
function usersOf(audiences: Audiences): (id: string) => Iterable<string> {
  const known = new Map<string, Iterable<string>>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const chain: { added: string[]; removed: string[] }[] = [];
    let next: string | null = id;
    while (next !== null) {
      const audience = audiences.get(next);
      if (audience === undefined) return [];
      chain.push(audience);
      next = audience.parent;
    }
    const users = new Set<string>();
    for (const { added, removed } of chain.reverse()) {
      for (const uid of removed) users.delete(uid);
      for (const uid of added) users.add(uid);
    }
    known.set(id, users);
    return users;
  };
}
