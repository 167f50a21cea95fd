import { spans } from "../delivery/bounds.ts";
import { decodePlays, noConversation } from "../delivery/delivery.ts";
import { readAudiences } from "../messages/audience.ts";
import type { Reader, Row } from "../sql/driver.ts";
import type { Fates, ReportedEvent, UnreachedReads } from "./ports.ts";

type PlayRow = Row & { org: string; cid: string; audience: string | null; uids: string | null; plays: string };
type ReceiptRow = Row & { org: string; cid: string; offset: number; uids: string };
type Found = { delivered: Set<string>; acknowledged: Set<string> };
/** Events of one conversation, by offset: from `first` to `last`. */
type Stretch = { org: string; cid: string; first: number; last: number; events: Map<number, Found> };

const nobody: Fates = { delivered: new Set(), acknowledged: new Set() };

/**
 * Creates the function that reads who has any number of events, in three queries. Like the delivery report, it ignores
 * deliveries whose audience is gone.
 */
export function createFateReader(reader: Reader): UnreachedReads["fates"] {
  const { tuplesOf } = reader.dialect;
  const findPlays = `SELECT d.org, d.cid, d.audience, d.uids, d.plays
    FROM (${tuplesOf("?", 4)}) AS asked JOIN delivery d ON d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = 'delivery'
      AND d."offset" >= CAST(asked.v2 AS BIGINT) AND d."offset" < CAST(asked.v3 AS BIGINT) + ${spans.delivery}
      AND d.first_offset <= CAST(asked.v3 AS BIGINT)`;
  const findReceipts = `SELECT d.org, d.cid, d."offset", d.uids
    FROM (${tuplesOf("?", 3)}) AS asked JOIN delivery d ON d.org = asked.v0 AND d.cid = asked.v1 AND d.kind = 'receipt'
      AND d."offset" = CAST(asked.v2 AS BIGINT) AND d.connections = 1`;

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
    const named = new Set(plays.flatMap(({ audience }) => audience ?? []));
    const usersOf = await readAudiences(reader, orgs, named);
    for (const { org, cid, audience, uids, plays: text } of plays) {
      const stretch = stretches.get(placeOf(org, cid));
      const found = decodePlays(text).flatMap(([offset]) => stretch?.events.get(offset) ?? []);
      if (found.length === 0) continue;
      const users = audience === null ? JSON.parse(uids ?? "[]") : (usersOf(audience) ?? []);
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
