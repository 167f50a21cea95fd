import { spans } from "../contract/delivery.ts";
import { createId, timeOfId } from "../lib/ids.ts";
import { groupInSpans } from "../lib/spans.ts";
import { createAudienceReader } from "./audience.ts";
import type {
  DeliveryReads,
  DeliveryWrites,
  NewAudience,
  NewDelivery,
  Play,
  StoredDelivery,
} from "./delivery-ports.ts";
import type { Driver, Reader, Row, Transaction } from "./driver.ts";
import { type Acknowledged, findAcknowledged } from "./receipts.ts";

/** What stands in place of a conversation for system messages; no identifier is empty. */
const noConversation = "";

type DeliveryRow = Row & {
  kind: NewDelivery["kind"];
  connections: number;
  audience: string | null;
  uids: string | null;
  plays: string;
};

/**
 * Writes who got what, beside the sends: it meets nothing that they touch. Of an organization that is not there any more
 * nothing is written.
 */
export function createDeliveryWrites({ driver }: { driver: Driver }): DeliveryWrites {
  const findLive = `SELECT id FROM organization WHERE deleted_at IS NULL AND id IN (${driver.dialect.textsOf("?")})`;

  /** Those of the organizations that there are; from now on the transaction may touch their rows. */
  async function enter(sql: Transaction, orgs: string[]): Promise<Set<string>> {
    const found = await sql.all<{ id: string }>(findLive, JSON.stringify([...new Set(orgs)]));
    const live = found.map(({ id }) => id);
    await sql.limitTo(live);
    return new Set(live);
  }

  return {
    async record({ audiences, deliveries }) {
      await driver.aside(async (sql) => {
        const live = await enter(
          sql,
          deliveries.map(({ org }) => org),
        );
        const isLive = ({ org }: { org: string }) => live.has(org);
        await sql.rows.insert("audience", audiences.filter(isLive).map(toAudienceRow), "skip");
        await sql.rows.insert("delivery", deliveries.filter(isLive).map(toDeliveryRow), "skip");
      });
    },
    async acknowledge(receipts) {
      await driver.aside(async (sql) => {
        const live = await enter(
          sql,
          receipts.map(({ org }) => org),
        );
        const acknowledged = await findAcknowledged(
          sql.rows,
          receipts.filter(({ org }) => live.has(org)),
        );
        await sql.rows.insert("delivery", toReceipts(acknowledged).map(toDeliveryRow), "skip");
      });
    },
  };
}

const kinds = ["delivery", "receipt"] as const;

const find = `SELECT kind, connections, audience, uids, plays FROM delivery
  WHERE org = ? AND cid = ? AND kind = ? AND "offset" >= ? AND "offset" < ? AND first_offset <= ?`;

/** Reads who got what. A row whose audience is gone tells nothing: no more is claimed than can be shown. */
export function createDeliveryReads({ reader }: { reader: Reader }): DeliveryReads {
  const readAudience = createAudienceReader(reader);
  return {
    async of(org, cid = noConversation, offset) {
      const read = (kind: NewDelivery["kind"]) =>
        reader.allOf<DeliveryRow>(org, find, org, cid, kind, offset, offset + spans[kind], offset);
      const rows = (await Promise.all(kinds.map(read))).flat();
      const audiences = new Map<string, string[] | undefined>();
      const found: StoredDelivery[] = [];
      for (const row of rows) {
        const play = decodePlays(row.plays).find(([played]) => played === offset);
        if (play === undefined) continue;
        const { audience } = row;
        if (audience !== null && !audiences.has(audience)) audiences.set(audience, await readAudience(org, audience));
        const uids: string[] | undefined = audience === null ? JSON.parse(row.uids ?? "[]") : audiences.get(audience);
        if (uids === undefined) continue;
        const [, first, last] = play;
        found.push({ kind: row.kind, connections: Number(row.connections), uids, first, last });
      }
      return found;
    },
  };
}

function toReceipts(acknowledged: Acknowledged[]): NewDelivery[] {
  const groups = groupInSpans(acknowledged, {
    keyOf: ({ event, uids }) => JSON.stringify([event.org, event.cid, uids]),
    placeOf: ({ event }) => event.offset,
    span: spans.receipt,
  });
  return groups.map((group) => {
    const [{ event, uids }] = group;
    const { org, cid } = event;
    return {
      id: createId(timeOfId(event.id)),
      org,
      cid: cid ?? undefined,
      kind: "receipt",
      connections: 0,
      audience: undefined,
      uids,
      plays: group.map(({ event: { offset }, at }): Play => [offset, at, at]),
    };
  });
}

function toAudienceRow({ id, org, cid, offset, parent, added, removed }: NewAudience): Row {
  return {
    org,
    cid,
    offset,
    id,
    parent: parent ?? null,
    added: JSON.stringify(added),
    removed: JSON.stringify(removed),
  };
}

function toDeliveryRow({ id, org, cid, kind, connections, audience, uids, plays }: NewDelivery): Row {
  return {
    org,
    cid: cid ?? noConversation,
    offset: plays.at(-1)?.[0] ?? 0,
    id,
    first_offset: plays[0]?.[0] ?? 0,
    kind,
    connections,
    audience: audience ?? null,
    uids: uids === undefined ? null : JSON.stringify(uids),
    plays: encodePlays(plays),
  };
}

/** Plays as text: the offset and the time of the first, then all of them relative to that; the last time where it differs. */
function encodePlays(plays: Play[]): string {
  const [beginOffset, beganAt] = plays[0] ?? [0, 0, 0];
  const relative = plays.map(([offset, first, last]) =>
    last === first ? [offset - beginOffset, first - beganAt] : [offset - beginOffset, first - beganAt, last - beganAt],
  );
  return JSON.stringify([beginOffset, beganAt, relative]);
}

function decodePlays(text: string): Play[] {
  const [beginOffset, beganAt, relative]: [number, number, [number, number, number?][]] = JSON.parse(text);
  return relative.map(([offset, first, last = first]) => [beginOffset + offset, beganAt + first, beganAt + last]);
}
