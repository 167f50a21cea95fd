import { toSeconds } from "../../contract/identifiers.ts";
import { applyEdit, recallPayload } from "../../contract/messages/changes.ts";
import { isObject, parseJson } from "../../lib/json/json-values.ts";
import type { LogTransaction, LogWriter, Looking } from "../log/log-writer.ts";
import { isIn, isMessageKind } from "../log/past.ts";
import type { Row } from "../sql/driver.ts";
import { forgetAnswers } from "../webhooks/answers.ts";
import { blankEvents, blankMessages, endGrowth } from "./blanking.ts";
import { lasting } from "./expiry-rule.ts";
import { isOpen } from "./pieces.ts";
import type { ChangeCheck, ChangeOutcome, MessageChanges, NewEdit, NewRecall } from "./ports.ts";

type MessageRow = Row & {
  id: string;
  offset: number;
  kind: string;
  cid: string;
  sender: string | null;
  payload: string;
  edit_offset: number | null;
  expires_at: number | null;
  silent: number | null;
};
type PlaceRow = Row &
  Pick<MessageRow, "id" | "offset" | "kind" | "cid" | "expires_at"> & { recalled_at: number | null };
type ConversationRow = Row & { id: string; log_start: number; past_start: number | null; participants: number };

/** The refusal of a change. */
export type Refused = Extract<ChangeOutcome, { outcome: "refused" }>;

/** What a change will do, and how many will hear it. */
type Plan = { outcome: "changed" | "unchanged"; cid: string; participants: number };
type EditPlan = Plan & { edited: Exclude<ReturnType<typeof applyEdit>, string> | undefined; row: MessageRow };
type RecallPlan = Plan & { places: { id: string; offset: number }[] };

const messageColumns = ["id", "offset", "kind", "cid", "sender", "payload", "edit_offset", "expires_at", "silent"];
const placeColumns = ["id", "offset", "kind", "cid", "recalled_at", "expires_at"];
const conversationColumns = ["id", "log_start", "past_start", "participants"];

/** Creates the changes of messages. Each is decided and made under the lock of its organization. */
export function createMessageChanges({ writer }: { writer: LogWriter }): MessageChanges {
  /** Decides a change by what is stored, without making it. */
  async function check(org: string, plan: (sql: Looking) => Promise<Plan | Refused>): Promise<ChangeCheck> {
    return await writer.check(org, async (sql, head) => {
      const decided = head === undefined ? refused("organization") : await plan(sql);
      return { outcome: outcomeOf(decided), participants: isRefused(decided) ? 0 : decided.participants };
    });
  }

  return {
    edit: (edit) =>
      writer.change(edit.org, refused("organization"), async (transaction) => {
        const plan = await planEdit(transaction.sql, edit);
        if (!isRefused(plan)) await makeEdit(transaction, edit, plan);
        return outcomeOf(plan);
      }),
    recall: (recall) =>
      writer.change(recall.org, refused("organization"), async (transaction) => {
        const plan = await planRecall(transaction.sql, recall);
        if (!isRefused(plan)) await makeRecall(transaction, recall, plan);
        return outcomeOf(plan);
      }),
    checkEdit: (edit) => check(edit.org, (sql) => planEdit(sql, edit)),
    checkRecall: (recall) => check(recall.org, (sql) => planRecall(sql, recall)),
  };
}

function outcomeOf(decided: Plan | Refused): ChangeOutcome {
  return isRefused(decided) ? decided : { outcome: decided.outcome, cid: decided.cid };
}

async function planEdit(sql: Looking, { org, sender, id, body, x, at }: NewEdit): Promise<EditPlan | Refused> {
  const { rows } = sql;
  const found = await lasting(sql, await rows.find<MessageRow>("event", messageColumns, [{ id, org }]));
  const row = found.find(({ kind, payload }) => isMessageKind(kind) && payload !== "");
  const conversation = row && (await findConversation(rows, org, row.cid));
  if (row === undefined || conversation === undefined || !isIn(conversation, row)) return refused("message");
  if (!(await isParticipant(rows, org, row.cid, sender))) return { ...refused("participant"), conversation: row.cid };
  if (row.sender !== sender) return refused("owner");
  if (isOpen(row)) return refused("completion");
  const edited = applyEdit(row.payload, { body, x: toObject(x), from: sender, t: toSeconds(at) });
  if (edited === "unreadable") return refused("message");
  if (edited === "empty") return refused("content");
  const plan = { cid: row.cid, row, participants: Number(conversation.participants) };
  if (edited === "unchanged") return { ...plan, outcome: edited, edited: undefined };
  return { ...plan, outcome: "changed", edited };
}

async function makeEdit(
  transaction: LogTransaction,
  { org, sender, eventId, at, keyId }: NewEdit,
  { cid, row, edited }: EditPlan,
): Promise<void> {
  if (edited === undefined) return;
  const { sql, emit, recount } = transaction;
  const { edit_offset: replaced, expires_at } = row;
  const offset = Number(row.offset);
  const expiresAt = expires_at === null ? undefined : Number(expires_at);
  if (replaced !== null) await blankEvents(transaction, { org, offsets: [Number(replaced)] });
  const event = { org, kind: "edit" as const, id: eventId, cid, sender, uids: undefined, keyId, createdAt: at };
  const { offset: editOffset } = emit({ ...event, payload: edited.event, expiresAt });
  const changed = { org, offset, payload: edited.message, edited_at: at, edit_offset: editOffset };
  await sql.rows.update("event", ["org", "offset"], [changed]);
  await forgetAnswers(sql, { org, eventIds: [row.id] });
  await endGrowth(transaction, org, [row.id]);
  recount(org, offset, Buffer.byteLength(edited.message) - Buffer.byteLength(row.payload));
  sql.forget();
}

/** Finds the messages of a recall. Whoever may take them back may hide them. */
export async function planRecall(
  sql: Looking,
  { org, sender, cid, ids: named }: NewRecall,
): Promise<RecallPlan | Refused> {
  const { rows } = sql;
  const conversation = await findConversation(rows, org, cid);
  if (conversation === undefined) return refused("conversation");
  if (!(await isParticipant(rows, org, cid, sender))) return refused("participant");
  const ids = [...new Set(named)];
  const keys = ids.map((id) => ({ id, org }));
  const found = await lasting(sql, await rows.find<PlaceRow>("event", placeColumns, keys));
  const offsets = new Map<string, number>();
  for (const row of found)
    if (isMessageKind(row.kind) && row.cid === cid && row.recalled_at === null && isIn(conversation, row))
      offsets.set(row.id, Number(row.offset));
  const message = ids.find((id) => !offsets.has(id));
  if (message !== undefined) return { ...refused("message"), message };
  const participants = Number(conversation.participants);
  const places = ids.map((id) => ({ id, offset: offsets.get(id) ?? 0 }));
  return { outcome: "changed", cid, participants, places };
}

async function makeRecall(
  transaction: LogTransaction,
  { org, sender, eventId, at, keyId }: NewRecall,
  { cid, places }: RecallPlan,
): Promise<void> {
  await blankMessages(transaction, { org, offsets: places.map(({ offset }) => offset), at });
  const ids = places.map(({ id }) => id);
  const payload = recallPayload({ ids, cid, from: sender, t: toSeconds(at) });
  transaction.emit({ org, kind: "recall", id: eventId, cid, sender, uids: undefined, payload, keyId, createdAt: at });
}

async function findConversation(rows: Looking["rows"], org: string, id: string): Promise<ConversationRow | undefined> {
  const [found] = await rows.find<ConversationRow>("conversation", conversationColumns, [{ org, id }]);
  return found;
}

async function isParticipant(rows: Looking["rows"], org: string, cid: string, uid: string): Promise<boolean> {
  return (await rows.find<Row>("participant", ["uid"], [{ org, cid, uid }])).length > 0;
}

function toObject(text: string | undefined): Record<string, unknown> | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Makes a refusal. */
export function refused(missing: Refused["missing"]): Refused {
  return { outcome: "refused", missing };
}

/** Whether a change is refused. */
export function isRefused(decided: Pick<Plan, "outcome"> | Refused): decided is Refused {
  return decided.outcome === "refused";
}
