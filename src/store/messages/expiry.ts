import { toSeconds } from "../../contract/identifiers.ts";
import { recallPayload } from "../../contract/messages/changes.ts";
import { textsIn } from "../../lib/json/json-values.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import { createDueReads } from "../due-reads.ts";
import { midIn } from "../inbox/inbox-reads.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import { isOfConversation, isSystemMessage, systemKinds } from "../log/past.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { blankMessages } from "./blanking.ts";
import type { ExpiryReads, ExpiryWrites } from "./ports.ts";
import { tellEnd } from "./system-recalls.ts";

type ExpiredRow = Row & {
  offset: number;
  id: string;
  kind: string;
  cid: string | null;
  sender: string | null;
  mid: string | null;
  uids: string | null;
  payload: string | null;
  is_heard: number;
};
type Work = { org: string; at: number };

const mostAtOnce = rowsOfStep / 5;
// Edits have the time of their message, and go with it.
const isWaiting = "expires_at IS NOT NULL AND recalled_at IS NULL AND kind <> 'edit'";
const findNext = `SELECT expires_at AS at FROM event WHERE ${isWaiting} ORDER BY expires_at LIMIT 1`;
const findOrganizations = `SELECT DISTINCT org FROM (SELECT org FROM event WHERE ${isWaiting} AND expires_at <= ?
  ORDER BY expires_at LIMIT ?) AS expired`;
const findExpired = `SELECT e."offset", e.id, e.kind, e.cid, e.sender, e.mid, e.uids,
    CASE WHEN e.mid IS NULL AND ${isSystemMessage("e")} THEN e.payload END AS payload,
    CASE WHEN e.cid IS NULL OR c.id IS NOT NULL THEN 1 ELSE 0 END AS is_heard
  FROM (SELECT "offset" FROM event WHERE ${isWaiting} AND expires_at <= ? AND org = ? ORDER BY expires_at LIMIT ${mostAtOnce}) AS found
  JOIN event e ON e.org = ? AND e."offset" = found."offset"
  LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation} ORDER BY e."offset"`;

/** Creates the reads of what expires. */
export function createExpiryReads({ reader }: { reader: Reader }): ExpiryReads {
  return createDueReads({ reader, findNext, findOrganizations });
}

/** Creates the writes that end what has expired. They lock the organization, so that of several nodes one does it. */
export function createExpiryWrites({ writer }: { writer: LogWriter }): ExpiryWrites {
  return {
    endSome: (org, at) =>
      writer.bulk(org, 0, async (transaction) => {
        const rows = await transaction.sql.all<ExpiredRow>(findExpired, at, org, org);
        const offsets = rows.map(({ offset }) => Number(offset));
        if (rows.length === 0) return 0;
        await blankMessages(transaction, { org, offsets, at, hasExpired: true });
        const heard = rows.filter(({ is_heard }) => Number(is_heard) === 1);
        const [system, messages] = [heard.filter(isSystem), heard.filter((row) => !isSystem(row))];
        for (const group of Map.groupBy(messages, keyOf).values()) tellMessages(transaction, { org, at }, group);
        for (const group of Map.groupBy(system, keyOf).values()) await tellSystem(transaction, { org, at }, group);
        return rows.length;
      }),
  };
}

function tellMessages({ emit }: LogTransaction, { org, at }: Work, rows: ExpiredRow[]): void {
  const { cid, sender } = addressIn(rows);
  const payload = recallPayload({ ids: rows.map(({ id }) => id), cid: cid ?? "", from: sender, t: toSeconds(at) });
  emit({ org, kind: "recall", id: createId(at), cid, sender, uids: undefined, payload, createdAt: at });
}

async function tellSystem(transaction: LogTransaction, { org, at }: Work, rows: ExpiredRow[]): Promise<void> {
  const { cid, sender, uids } = addressIn(rows);
  const ids = rows.map(({ mid, payload }) => mid ?? midIn(payload ?? ""));
  const offsets = rows.map(({ offset }) => Number(offset));
  await tellEnd(transaction, { org, sender, at }, { cid, uids, ids, offsets });
}

/** What expires with one sender and one audience is told together. */
function keyOf({ cid, sender, uids }: ExpiredRow): string {
  return joinIds(cid ?? "", sender ?? "", uids ?? "");
}

function addressIn([first]: ExpiredRow[]) {
  const { cid, sender, uids } = first ?? {};
  return { cid: cid ?? undefined, sender: sender ?? "", uids: uids == null ? undefined : textsIn(uids) };
}

function isSystem({ kind }: ExpiredRow): boolean {
  return systemKinds.includes(kind);
}
