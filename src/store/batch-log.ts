import { HeraldError } from "../contract/errors.ts";
import type { Sql } from "./driver.ts";
import type { LogTransaction, LogWriter } from "./log-writer.ts";
import type { AppendResult, BatchLog, BatchResult, NewSend } from "./ports.ts";

const findSend = "SELECT id, created_at, fingerprint FROM event WHERE org = ? AND kind = ? AND sender = ? AND mid = ?";
const findParticipant = `SELECT p.uid AS uid FROM conversation c
  LEFT JOIN participant p ON p.org = c.org AND p.cid = c.id AND p.uid = ?
  WHERE c.org = ? AND c.id = ?`;
const findUser = `SELECT id FROM "user" WHERE org = ? AND id = ? AND deleted_at IS NULL`;
const touchConversation = "UPDATE conversation SET updated_at = ? WHERE org = ? AND id = ? AND updated_at < ?";

type Missing = Extract<AppendResult, { outcome: "refused" }>["missing"];

/** Appends batches of sends. What the batch cannot take together is tried one by one: a bad row fails alone. */
export function createBatchLog({ writer }: { writer: LogWriter }): BatchLog {
  const append = (sends: NewSend[]) => {
    const orgs = sends.map(({ org }) => org);
    return writer.commit(orgs, (transaction) => appendBatch(transaction, sends));
  };

  async function appendAlone(send: NewSend): Promise<BatchResult[]> {
    try {
      return await append([send]);
    } catch (error) {
      return [{ outcome: "failed", error }];
    }
  }

  return {
    async appendAll(sends) {
      try {
        return await append(sends);
      } catch (error) {
        if (sends.length === 1 || error instanceof HeraldError) throw error;
        const results: BatchResult[] = [];
        for (const send of sends) results.push(...(await appendAlone(send)));
        return results;
      }
    },
  };
}

async function appendBatch({ sql, heads, emit }: LogTransaction, sends: NewSend[]): Promise<BatchResult[]> {
  const earlier = await Promise.all(sends.map((send) => findEarlier(sql, send)));
  const refusals = new Map<string, Promise<Missing | undefined>>();
  const missing = await Promise.all(sends.map((send) => checkOnce(refusals, sql, heads, send)));
  const stored = new Map<string, NewSend>();
  const touched = new Map<string, NewSend>();

  const results = sends.map((send, index): BatchResult => {
    const key = send.mid === undefined ? undefined : JSON.stringify([send.org, send.kind, send.sender, send.mid]);
    const before = earlier[index] ?? (key === undefined ? undefined : stored.get(key));
    if (before !== undefined) {
      if (before.fingerprint !== send.fingerprint) return { outcome: "conflict" };
      return { outcome: "replayed", id: before.id, mid: send.mid, createdAt: before.createdAt };
    }
    const refusal = missing[index];
    if (refusal !== undefined) return { outcome: "refused", missing: refusal };
    const offset = emit(send);
    if (key !== undefined) stored.set(key, send);
    if (send.cid !== undefined) touched.set(JSON.stringify([send.org, send.cid]), send);
    return { outcome: "stored", offset };
  });

  await Promise.all(
    [...touched.values()].map((send) =>
      sql.run(touchConversation, send.createdAt, send.org, send.cid ?? null, send.createdAt),
    ),
  );
  return results;
}

async function findEarlier(
  sql: Sql,
  send: NewSend,
): Promise<Pick<NewSend, "id" | "createdAt" | "fingerprint"> | undefined> {
  if (send.mid === undefined) return undefined;
  const [row] = await sql.all<{ id: string; created_at: number; fingerprint: string }>(
    findSend,
    send.org,
    send.kind,
    send.sender,
    send.mid,
  );
  return row && { id: row.id, createdAt: Number(row.created_at), fingerprint: row.fingerprint };
}

/** Many sends of a batch ask the same: one question for each conversation and sender is enough. */
function checkOnce(
  known: Map<string, Promise<Missing | undefined>>,
  sql: Sql,
  heads: LogTransaction["heads"],
  send: NewSend,
): Promise<Missing | undefined> {
  const key = JSON.stringify([send.org, send.cid, send.sender]);
  let answer = known.get(key);
  if (answer === undefined) {
    answer = findMissing(sql, heads, send);
    known.set(key, answer);
  }
  return answer;
}

async function findMissing(sql: Sql, heads: LogTransaction["heads"], send: NewSend): Promise<Missing | undefined> {
  if (!heads.has(send.org)) return "organization";
  if (send.cid === undefined) {
    const users = await sql.all(findUser, send.org, send.sender);
    return users.length === 0 ? "user" : undefined;
  }
  const [row] = await sql.all<{ uid: string | null }>(findParticipant, send.sender, send.org, send.cid);
  if (row === undefined) return "conversation";
  return row.uid === null ? "participant" : undefined;
}
