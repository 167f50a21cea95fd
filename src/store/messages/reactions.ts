import { maxReactionsOfMessage, reactionPayload, readTotals } from "../../contract/messages/reactions.ts";
import type { LogTransaction, LogWriter, Looking } from "../log/log-writer.ts";
import { isIn, isMessageKind } from "../log/past.ts";
import type { Row } from "../sql/driver.ts";
import { lasting } from "./expiry-rule.ts";
import type { NewReaction, ReactionOutcome, Reactions } from "./ports.ts";

type MessageRow = Row & {
  offset: number;
  kind: string;
  cid: string;
  recalled_at: number | null;
  expires_at: number | null;
  reactions: string | null;
};
type ConversationRow = Row & { log_start: number; past_start: number | null; participants: number };
type OwnRow = Row & { reaction: string };

type Refused = Extract<ReactionOutcome, { outcome: "refused" }>;
type Plan = {
  outcome: "changed" | "unchanged";
  cid: string;
  offset: number;
  participants: number;
  add: string | undefined;
  remove: string | undefined;
  totals: string | null;
};

/** A reaction of a user to the message `id`. */
export type ReactionRow = { org: string; cid: string; offset: number; uid: string; reaction: string; id: string };

const messageColumns = ["offset", "kind", "cid", "recalled_at", "expires_at", "reactions"];
const conversationColumns = ["log_start", "past_start", "participants"];

/** Creates the changes of reactions. Each is decided and made under the lock of its organization. */
export function createReactions({ writer }: { writer: LogWriter }): Reactions {
  return {
    react: (reaction) =>
      writer.change(reaction.org, refused("organization"), async (transaction) => {
        const plan = await planReaction(transaction.sql, reaction);
        if (isRefused(plan)) return plan;
        if (plan.outcome === "changed") await makeReaction(transaction, reaction, plan);
        return { outcome: plan.outcome, cid: plan.cid };
      }),
    check: (reaction) =>
      writer.check(reaction.org, async (sql, head) => {
        const plan = head === undefined ? refused("organization") : await planReaction(sql, reaction);
        if (isRefused(plan)) return { outcome: plan, participants: 0 };
        return { outcome: { outcome: plan.outcome, cid: plan.cid }, participants: plan.participants };
      }),
  };
}

/** Counts reactions that come or go in the totals of a message; `null` if none is left. */
export function countReactions(
  before: string | null,
  changes: Iterable<[reaction: string, by: number]>,
): string | null {
  const totals = readTotals(before);
  for (const [reaction, by] of changes) {
    const count = (totals.get(reaction) ?? 0) + by;
    if (count > 0) totals.set(reaction, count);
    else totals.delete(reaction);
  }
  return totals.size === 0 ? null : JSON.stringify(Object.fromEntries(totals));
}

async function planReaction(sql: Looking, { org, sender, id, add, remove }: NewReaction): Promise<Plan | Refused> {
  const { rows } = sql;
  const found = await lasting(sql, await rows.find<MessageRow>("event", messageColumns, [{ id, org }]));
  const row = found.find(({ kind, recalled_at }) => isMessageKind(kind) && recalled_at === null);
  if (row === undefined) return refused("message");
  const { cid } = row;
  const offset = Number(row.offset);
  const asked = [add, remove].flatMap((reaction) => reaction ?? []);
  const keys = asked.map((reaction) => ({ org, cid, offset, uid: sender, reaction }));
  const [[conversation], participants, ownRows] = await Promise.all([
    rows.find<ConversationRow>("conversation", conversationColumns, [{ org, id: cid }]),
    rows.find<Row>("participant", ["uid"], [{ org, cid, uid: sender }]),
    rows.find<OwnRow>("message_reaction", ["reaction"], keys),
  ]);
  if (conversation === undefined || !isIn(conversation, row)) return refused("message");
  if (participants.length === 0) return { ...refused("participant"), conversation: cid };
  const own = new Set(ownRows.map(({ reaction }) => reaction));
  const added = add !== undefined && !own.has(add) ? add : undefined;
  const removed = remove !== undefined && own.has(remove) ? remove : undefined;
  const changes: [string, number][] = [];
  if (removed !== undefined) changes.push([removed, -1]);
  if (added !== undefined) changes.push([added, 1]);
  const totals = countReactions(row.reactions, changes);
  if (added !== undefined && readTotals(totals).size > maxReactionsOfMessage) return refused("reactions");
  const outcome = changes.length === 0 ? "unchanged" : "changed";
  return { outcome, cid, offset, participants: Number(conversation.participants), add: added, remove: removed, totals };
}

async function makeReaction(
  { sql, emit }: LogTransaction,
  { org, sender: uid, id, eventId, at, keyId }: NewReaction,
  { cid, offset, add, remove, totals }: Plan,
): Promise<void> {
  if (remove !== undefined) {
    const text = `DELETE FROM message_reaction WHERE org = ? AND cid = ? AND "offset" = ? AND uid = ? AND reaction = ?`;
    await sql.run(text, org, cid, offset, uid, remove);
    sql.forget();
  }
  if (add !== undefined) await sql.rows.insert("message_reaction", [{ org, cid, offset, uid, reaction: add, id }]);
  await sql.rows.update("event", ["org", "offset"], [{ org, offset, reactions: totals }]);
  const payload = reactionPayload({ mid: id, cid, from: uid, add, remove });
  emit({ org, kind: "reaction", id: eventId, cid, sender: uid, uids: undefined, payload, keyId, createdAt: at });
}

/** Removes all reactions to messages; their totals are cleared with the texts. */
export async function forgetReactions(
  { sql }: LogTransaction,
  org: string,
  messages: readonly { cid: string | null; offset: number; reactions: string | null }[],
): Promise<void> {
  const reacted = messages.filter(({ reactions }) => reactions !== null);
  const remove = `DELETE FROM message_reaction WHERE org = ? AND cid = ? AND "offset" IN (${sql.dialect.givenNumbers})`;
  for (const [cid, ones] of Map.groupBy(reacted, (message) => message.cid ?? ""))
    await sql.run(remove, org, cid, JSON.stringify(ones.map(({ offset }) => Number(offset))));
}

/** Removes the first of a user's reactions, from the messages' totals too, and returns their number. */
export async function removeReactionsOf(
  { sql }: LogTransaction,
  { org, uid }: { org: string; uid: string },
  limit: number,
): Promise<number> {
  const find = `SELECT cid, "offset", reaction FROM message_reaction WHERE org = ? AND uid = ? ORDER BY cid, "offset", reaction LIMIT ?`;
  type Found = Pick<ReactionRow, "cid" | "offset" | "reaction">;
  const found = await sql.all<Found>(find, org, uid, limit);
  if (found.length === 0) return 0;
  const remove = `DELETE FROM message_reaction WHERE org = ? AND cid = ? AND "offset" = ? AND uid = ? AND reaction = ?`;
  for (const { cid, offset, reaction } of found) await sql.run(remove, org, cid, Number(offset), uid, reaction);
  const byOffset = Map.groupBy(found, ({ offset }) => Number(offset));
  const changes = new Map(
    Array.from(byOffset, ([offset, ones]) => [offset, ones.map((one) => [one.reaction, -1] as [string, number])]),
  );
  await changeTotals(sql, org, changes);
  sql.forget();
  return found.length;
}

/** Changes the totals of stored messages, by their offsets. */
async function changeTotals(
  { rows }: Pick<LogTransaction["sql"], "rows">,
  org: string,
  changes: ReadonlyMap<number, [reaction: string, by: number][]>,
): Promise<void> {
  const keys = Array.from(changes.keys(), (offset) => ({ org, offset }));
  const events = await rows.find<Row & { offset: number; reactions: string | null }>(
    "event",
    ["offset", "reactions"],
    keys,
  );
  const updates = events.map(({ offset, reactions }) => ({
    org,
    offset: Number(offset),
    reactions: countReactions(reactions, changes.get(Number(offset)) ?? []),
  }));
  await rows.update("event", ["org", "offset"], updates);
}

function refused(missing: Refused["missing"]): Refused {
  return { outcome: "refused", missing };
}

function isRefused(plan: Plan | Refused): plan is Refused {
  return plan.outcome === "refused";
}
