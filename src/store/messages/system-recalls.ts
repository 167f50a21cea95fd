import { toSeconds } from "../../contract/identifiers.ts";
import { addressOf } from "../../contract/log/log-event.ts";
import { systemRecallPayload } from "../../contract/messages/changes.ts";
import { textsIn } from "../../lib/json/json-values.ts";
import { createId } from "../../lib/text/ids.ts";
import { keepRecall, takeOutOfInboxes } from "../inbox/inbox-writes.ts";
import { wasThere } from "../inbox/places.ts";
import type { LogTransaction, LogWriter, Looking } from "../log/log-writer.ts";
import { isIn, systemKinds } from "../log/past.ts";
import type { Row } from "../sql/driver.ts";
import { blankMessages } from "./blanking.ts";
import { lasting } from "./expiry-rule.ts";
import type { NewSystemRecall, SystemAudience, SystemRecallRefusal, SystemRecalls } from "./ports.ts";

type SystemRow = Row & {
  mid: string;
  offset: number;
  cid: string | null;
  uids: string | null;
  recalled_at: number | null;
  expires_at: number | null;
};
type ConversationRow = Row & { id: string; log_start: number; past_start: number | null };

/** System messages of one sender with one audience, as that hears of their end together. */
export type SystemGroup = { cid: string | undefined; uids: string[] | undefined; ids: string[]; offsets: number[] };

const mostTold = 10_000;
const columns = ["mid", "offset", "cid", "uids", "recalled_at", "expires_at"];

/** Creates the recalls of system messages. Each is decided and made under the lock of its organization. */
export function createSystemRecalls({ writer }: { writer: LogWriter }): SystemRecalls {
  return {
    recall: (recall) =>
      writer.change(recall.org, refused("organization"), async (transaction) => {
        const groups = await plan(transaction.sql, recall);
        if ("outcome" in groups) return groups;
        for (const group of groups) {
          await blankMessages(transaction, { ...recall, offsets: group.offsets });
          await tellEnd(transaction, recall, group);
        }
        return { outcome: "changed" };
      }),
    check: (recall) =>
      writer.check(recall.org, async (sql, head) => {
        if (head === undefined) return refused("organization");
        const groups = await plan(sql, recall);
        return "outcome" in groups ? groups : { outcome: "changed", audiences: groups.map(toAudience) };
      }),
  };
}

/** What will be recalled, by audience. A message to a conversation that was deleted since is not found. */
async function plan(sql: Looking, { org, sender, ids }: NewSystemRecall): Promise<SystemGroup[] | SystemRecallRefusal> {
  const { rows } = sql;
  const keys = ids.flatMap((mid) => systemKinds.map((kind) => ({ mid, sender, org, kind })));
  const found = await lasting(sql, await rows.find<SystemRow>("event", columns, keys));
  const cids = [...new Set(found.flatMap(({ cid }) => cid ?? []))];
  const conversationKeys = cids.map((id) => ({ org, id }));
  const conversations = new Map(
    (await rows.find<ConversationRow>("conversation", ["id", "log_start", "past_start"], conversationKeys)).map(
      (conversation) => [conversation.id, conversation],
    ),
  );
  const groups = new Map<string, SystemGroup>();
  const missing = new Set(ids);
  // In the order of the request, whatever order the database finds them in.
  for (const row of found.toSorted((one, other) => ids.indexOf(one.mid) - ids.indexOf(other.mid))) {
    const { mid, cid, uids } = row;
    const conversation = cid === null ? undefined : conversations.get(cid);
    const isThere = cid === null || (conversation !== undefined && isIn(conversation, row));
    if (row.recalled_at !== null || !isThere) continue;
    const audience = JSON.stringify([cid, uids]);
    const group = groups.get(audience) ?? { cid: cid ?? undefined, uids: listOf(row), ids: [], offsets: [] };
    groups.set(audience, group);
    if (!group.ids.includes(mid)) group.ids.push(mid); // sent, and imported
    group.offsets.push(Number(row.offset));
    missing.delete(mid);
  }
  const [message] = missing;
  if (message === undefined) return [...groups.values()];
  const isUser = (await rows.find<Row>("user", ["id"], [{ org, id: sender }])).length > 0;
  return isUser ? { ...refused("message"), message } : refused("user");
}

/** Takes system messages whose texts are removed out of inboxes, and tells it to whom they were addressed to. */
export async function tellEnd(
  transaction: LogTransaction,
  { org, sender, at, keyId }: Omit<NewSystemRecall, "ids" | "keyId"> & { keyId?: string },
  { cid, uids, ids, offsets }: SystemGroup,
): Promise<void> {
  const payload = systemRecallPayload({ ids, from: sender, t: toSeconds(at) });
  const until = await takeOutOfInboxes(transaction, { org, offsets, cid, uids });
  const left =
    until === undefined || cid === undefined ? [] : await findThoseWhoLeft(transaction, { org, cid, offsets });
  const audiences: Pick<SystemGroup, "cid" | "uids">[] = [{ cid, uids }];
  if (left.length > 0) audiences.push({ cid: undefined, uids: left }); // they have kept what was addressed to them
  for (const audience of audiences) {
    const event = { org, kind: "system_recall" as const, id: createId(at), sender, payload, keyId, ...audience };
    const { offset } = transaction.emit({ ...event, createdAt: at });
    if (until !== undefined) await keepRecall(transaction, { org, offset, until, ...audience });
  }
}

/** Who took part in the conversation at one of the offsets, and does not any more: the first 10,000 by id. */
async function findThoseWhoLeft(
  { sql }: LogTransaction,
  { org, cid, offsets }: { org: string; cid: string; offsets: readonly number[] },
): Promise<string[]> {
  const find = `SELECT DISTINCT f.uid FROM former_participant f WHERE f.org = ? AND f.cid = ?
    AND EXISTS (SELECT 1 FROM (${sql.dialect.givenNumbers}) AS recalled
      WHERE recalled.value > f.log_start AND recalled.value <= f.log_end)
    AND NOT EXISTS (SELECT 1 FROM participant p WHERE p.org = f.org AND p.cid = f.cid AND p.uid = f.uid)
    AND EXISTS (SELECT 1 FROM "user" u WHERE u.org = f.org AND u.id = f.uid AND ${wasThere})
    ORDER BY f.uid LIMIT ${mostTold}`;
  const rows = await sql.all<{ uid: string }>(find, org, cid, JSON.stringify(offsets));
  return rows.map(({ uid }) => uid);
}

function listOf({ uids }: SystemRow): string[] | undefined {
  return uids === null ? undefined : textsIn(uids);
}

function toAudience(group: SystemGroup): SystemAudience {
  const { cid = "", uids = [] } = group;
  const address = addressOf(group);
  return address === "users" ? { address, uids } : address === "conversation" ? { address, cid } : { address };
}

function refused(missing: SystemRecallRefusal["missing"]): SystemRecallRefusal {
  return { outcome: "refused", missing };
}
