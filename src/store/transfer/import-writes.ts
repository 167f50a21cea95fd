import { createId, joinIds } from "../../lib/text/ids.ts";
import { ensureUsers } from "../directory/users.ts";
import { nameImportedFiles } from "../files/files.ts";
import { type KeptSend, keepImported } from "../inbox/inbox-writes.ts";
import { requireKey } from "../keys/keys.ts";
import { allSessionsOf, emitMembership, emitSessionEnd } from "../log/control-events.ts";
import type { LogTransaction, LogWriter, PastEvent } from "../log/log-writer.ts";
import { importedKind, importedSystemKind } from "../log/past.ts";
import { errorCodeOf } from "../sql/driver.ts";
import { isInInboxes } from "./import-inbox-plan.ts";
import { lookAt } from "./import-look.ts";
import { type ImportPlan, type NewSystemMessage, planImport } from "./import-plan.ts";
import {
  type ImportedMessage,
  type ImportItem,
  type ImportOutcome,
  type ImportPart,
  type ImportWrites,
  payloadOf,
} from "./ports.ts";

// SQLSTATE (PostgreSQL, appendix A) and SQLite's extended result code.
const uniqueViolation = /^(23505|SQLITE_CONSTRAINT_UNIQUE)$/;

/**
 * Creates the writes of imports. A part is decided in memory from what it names, and then written table by table, so
 * that its cost is that of its rows.
 */
export function createImportWrites({ writer }: { writer: LogWriter }): ImportWrites {
  async function addAll(part: ImportPart, givesIds: boolean): Promise<ImportOutcome | undefined> {
    const { org } = part;
    return await writer.bulk(org, undefined, async (transaction, head) => {
      const found = await lookAt(transaction.sql.rows, part);
      const plan = planImport(found, part, { pastHead: transaction.pastHead(org), givesIds });
      const writing = { part, plan, head };
      await writeUsers(transaction, writing);
      await writeConversations(transaction, writing);
      await writeParticipants(transaction, writing);
      await writePast(transaction, writing);
      await writeReactions(transaction, writing);
      await writeInboxes(transaction, writing);
      await requireKey(transaction.sql, part.by);
      return outcomeOf(plan, givesIds);
    });
  }

  async function add(part: ImportPart): Promise<ImportOutcome | undefined> {
    try {
      return await addAll(part, false);
    } catch (error) {
      if (!uniqueViolation.test(errorCodeOf(error))) throw error;
      return await addAll(part, true); // an id that a message shall keep is another organization's
    }
  }

  async function check(part: ImportPart, also: readonly ImportItem[]): Promise<ImportOutcome | undefined> {
    return await writer.check(part.org, async ({ rows }, head) => {
      if (head === undefined) return undefined;
      const found = await lookAt(rows, part);
      const options = { pastHead: -part.items.length - 1, givesIds: false }; // behind what is there
      planImport(found, { ...part, items: also }, options);
      return outcomeOf(planImport(found, part, options), false);
    });
  }

  return { add, check };
}

function outcomeOf({ faults, written }: ImportPlan, gaveIds: boolean): ImportOutcome {
  return { faults, written, gaveIds };
}

type Writing = { part: ImportPart; plan: ImportPlan; head: number };

async function writeUsers(transaction: LogTransaction, writing: Writing): Promise<void> {
  const { sql } = transaction;
  const { org, now } = writing.part;
  const { found, users } = writing.plan;
  const { head } = writing;
  const rowOf = (id: string) => {
    const { name = null, blockedAt = null, pastStart = null } = found.users.get(id) ?? {};
    return { org, id, name, blocked_at: blockedAt, past_start: pastStart };
  };
  const added = Array.from(users.added, (id) => ({ ...rowOf(id), created_at: now, log_start: head }));
  sql.lastly(sql.rows.insert("user", added));
  await ensureUsers(transaction, { org, uids: [...users.revived], now });
  sql.lastly(sql.rows.update("user", ["org", "id"], Array.from([...users.revived, ...users.changed], rowOf)));
  for (const uid of users.blocked) emitSessionEnd(transaction, { org, now }, allSessionsOf(uid));
}

async function writeConversations({ sql }: LogTransaction, { part, plan, head }: Writing): Promise<void> {
  const { org, now } = part;
  const { found, conversations } = plan;
  const rowsOf = (ids: ReadonlySet<string>) =>
    [...ids].flatMap((id) => {
      const conversation = found.conversations.get(id);
      if (conversation === undefined) return [];
      const { name, participants, updatedAt, pastStart = null } = conversation;
      return [{ org, id, name, participants, updated_at: updatedAt, past_start: pastStart }];
    });
  const added = rowsOf(conversations.added).map((row) => ({ ...row, created_at: now, log_start: head }));
  sql.lastly(sql.rows.insert("conversation", added));
  sql.lastly(sql.rows.update("conversation", ["org", "id"], rowsOf(conversations.changed)));
}

async function writeParticipants(transaction: LogTransaction, { part, plan, head }: Writing): Promise<void> {
  const { sql } = transaction;
  const { org, now } = part;
  const startOf = (cid: string, uid: string) => plan.found.participants.get(joinIds(cid, uid)) ?? null;
  const joined = [...plan.joins].flatMap(([cid, uids]) =>
    uids.map((uid) => ({ org, cid, uid, created_at: now, log_start: head, past_start: startOf(cid, uid) })),
  );
  sql.lastly(sql.rows.insert("participant", joined));
  const moved = Array.from(plan.inboxes.moved.values(), ({ cid, uid }) => {
    return { org, cid, uid, past_start: startOf(cid, uid) };
  });
  sql.lastly(sql.rows.update("participant", ["org", "cid", "uid"], moved));
  for (const [cid, added] of plan.joins) emitMembership(transaction, { org, cid, now }, { added, removed: [] });
}

async function writePast(transaction: LogTransaction, { part, plan }: Writing): Promise<void> {
  const { sql } = transaction;
  const { org, now } = part;
  if (plan.stale.length > 0) {
    const remove = `DELETE FROM event WHERE org = ? AND id IN (${sql.dialect.givenTexts})
      RETURNING OCTET_LENGTH(payload) AS bytes`;
    const removed = await sql.all<{ bytes: number }>(remove, org, JSON.stringify(plan.stale));
    for (const { bytes } of removed) transaction.count(org, -Number(bytes));
  }
  const messages: ImportedMessage[] = [];
  const kept: KeptSend[] = plan.inboxes.recipients.map(({ of, uids, offset }) => {
    return { ...of, org, cid: undefined, uids, offset };
  });
  for (const event of plan.past) {
    const offset = transaction.emitPast(
      event.kind === "message"
        ? { ...toMessage(event, part), reactions: plan.totals.get(transaction.pastHead(org) + 1) ?? undefined }
        : toSystemMessage(event, part),
    );
    if (event.kind === "message") messages.push(event);
    else if (isInInboxes(event)) kept.push({ ...event, org, uids: event.recipients, offset });
  }
  await nameImportedFiles(sql, { org, messages, now });
  await keepImported(sql, kept);
}

/** Those of new messages are in their rows already. */
async function writeReactions({ sql }: LogTransaction, { part, plan }: Writing): Promise<void> {
  const { org } = part;
  if (plan.reactions.length === 0) return;
  const rows = plan.reactions.map((row) => ({ org, ...row }));
  sql.lastly(sql.rows.insert("message_reaction", rows, "skip"));
  const stored = Array.from(plan.totals, ([offset, reactions]) => ({ org, offset, reactions }));
  await sql.rows.update("event", ["org", "offset"], stored);
}

function toMessage(message: ImportedMessage, { org, keyId }: ImportPart): PastEvent {
  const { id, importId: mid, cid, sender, createdAt, expiresAt } = message;
  const payload = payloadOf(message);
  return { org, kind: importedKind, id, mid, cid, sender, payload, uids: undefined, createdAt, expiresAt, keyId };
}

function toSystemMessage(message: NewSystemMessage, { org, keyId }: ImportPart): PastEvent {
  const { id, cid, sender, payload, uids, silent, createdAt, expiresAt } = message;
  const mid = message.isNamed ? message.mid : undefined;
  const content = { cid, sender, mid, payload, uids, silent };
  return { org, kind: importedSystemKind, id, ...content, createdAt, expiresAt, keyId };
}

async function writeInboxes({ sql }: LogTransaction, { part, plan }: Writing): Promise<void> {
  const { org, now } = part;
  const { marked, ranges } = plan.inboxes;
  const rowsOf = (isNew: boolean) =>
    [...marked].flatMap(([uid, mark]) => {
      const marks = plan.found.inboxes.marks.get(uid);
      return mark.isNew === isNew ? [{ org, uid, marks: JSON.stringify(marks) }] : [];
    });
  sql.lastly(sql.rows.insert("inbox_mark", rowsOf(true)));
  sql.lastly(sql.rows.update("inbox_mark", ["org", "uid"], rowsOf(false)));
  const former = ranges.map(({ cid, uid, after: log_start, upTo: log_end }) => {
    return { org, cid, uid, log_start, log_end, id: createId(now) };
  });
  sql.lastly(sql.rows.insert("former_participant", former, "skip"));
}
