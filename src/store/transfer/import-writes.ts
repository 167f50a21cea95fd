import { ensureUsers } from "../directory/users.ts";
import { nameImportedFiles } from "../files/files.ts";
import { requireKey } from "../keys/keys.ts";
import { allSessionsOf, emitMembership, emitSessionEnd } from "../log/control-events.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import { errorCodeOf } from "../sql/driver.ts";
import { lookAt } from "./import-look.ts";
import { type ImportPlan, planImport } from "./import-plan.ts";
import { type ImportOutcome, type ImportPart, type ImportWrites, payloadOf } from "./ports.ts";

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
      await writeMessages(transaction, writing);
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

  async function check(part: ImportPart, also: readonly string[]): Promise<ImportOutcome | undefined> {
    return await writer.check(part.org, async ({ rows }, head) => {
      if (head === undefined) return undefined;
      const found = await lookAt(rows, part);
      const items = also.map((id) => ({ kind: "conversation", id, name: undefined }) as const);
      planImport(found, { ...part, items }, { pastHead: 0, givesIds: false });
      return outcomeOf(planImport(found, part, { pastHead: 0, givesIds: false }), false);
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
    const { name = null, blockedAt = null } = found.users.get(id) ?? {};
    return { org, id, name, blocked_at: blockedAt };
  };
  const added = Array.from(users.added, (id) => ({ ...rowOf(id), created_at: now, log_start: head }));
  sql.lastly(sql.rows.insert("user", added));
  if (users.revived.size > 0) await ensureUsers(sql, { org, uids: [...users.revived], head, now });
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
  const joined = [...plan.joins].flatMap(([cid, uids]) =>
    uids.map((uid) => ({ org, cid, uid, created_at: now, log_start: head })),
  );
  sql.lastly(sql.rows.insert("participant", joined));
  for (const [cid, added] of plan.joins) emitMembership(transaction, { org, cid, now }, { added, removed: [] });
}

async function writeMessages(transaction: LogTransaction, { part, plan }: Writing): Promise<void> {
  const { sql } = transaction;
  const { org, keyId, now } = part;
  if (plan.stale.length > 0) {
    const remove = `DELETE FROM event WHERE org = ? AND id IN (${sql.dialect.givenTexts})
      RETURNING OCTET_LENGTH(payload) AS bytes`;
    const removed = await sql.all<{ bytes: number }>(remove, org, JSON.stringify(plan.stale));
    for (const { bytes } of removed) transaction.count(org, -Number(bytes));
  }
  for (const message of plan.messages) {
    const { id, importId: mid, cid, sender, createdAt } = message;
    const payload = payloadOf(message);
    transaction.emitPast({ org, id, mid, cid, sender, payload, uids: undefined, createdAt, keyId });
  }
  await nameImportedFiles(sql, { org, messages: plan.messages, now });
}
