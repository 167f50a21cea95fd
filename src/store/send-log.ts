import { HeraldError } from "../contract/errors.ts";
import { createBatcher } from "../lib/batcher.ts";
import type { Sql } from "./driver.ts";
import type { LogTransaction, LogWriter } from "./log-writer.ts";
import type { AppendResult, NewSend, SendLog } from "./ports.ts";

const maxBatch = 500;
const maxWaiting = 20_000;

const findSend = "SELECT id, created_at, fingerprint FROM event WHERE org = ? AND kind = ? AND sender = ? AND mid = ?";
const findParticipant = `SELECT p.uid AS uid FROM conversation c
  LEFT JOIN participant p ON p.org = c.org AND p.cid = c.id AND p.uid = ?
  WHERE c.org = ? AND c.id = ?`;
const findUser = `SELECT id FROM "user" WHERE org = ? AND id = ? AND deleted_at IS NULL`;
const touchConversation = "UPDATE conversation SET updated_at = ? WHERE org = ? AND id = ? AND updated_at < ?";

type Missing = Extract<AppendResult, { outcome: "refused" }>["missing"];

/** Group commit: the sends of one turn of the event loop, and those that arrive while a commit is under way, share one. */
export function createSendLog({ writer, batchSize = maxBatch }: { writer: LogWriter; batchSize?: number }): SendLog {
  const batcher = createBatcher<NewSend, AppendResult>({
    flush: appendAll,
    maxBatch: batchSize,
    maxWaiting,
    whenFull: () =>
      new HeraldError("unavailable", "too many sends wait for the database; retry with the same id", {
        headers: { "Retry-After": "1" },
      }),
  });

  async function appendAll(sends: NewSend[]): Promise<PromiseSettledResult<AppendResult>[]> {
    try {
      const results = await writer.transaction(
        sends.map(({ org }) => org),
        (transaction) => appendBatch(transaction, sends),
      );
      return results.map((value) => ({ status: "fulfilled", value }));
    } catch (error) {
      if (sends.length === 1 || error instanceof HeraldError) throw error;
      // One bad row must not fail its neighbours: each send gets a commit of its own.
      const results: PromiseSettledResult<AppendResult>[] = [];
      for (const send of sends) results.push(...(await Promise.allSettled([appendAlone(send)])));
      return results;
    }
  }

  async function appendAlone(send: NewSend): Promise<AppendResult> {
    const [result] = await writer.transaction([send.org], (transaction) => appendBatch(transaction, [send]));
    if (result === undefined) throw new Error("an append without a result");
    return result;
  }

  return { append: (send) => batcher.add(send) };
}

async function appendBatch({ sql, heads, emit }: LogTransaction, sends: NewSend[]): Promise<AppendResult[]> {
  const earlier = await Promise.all(sends.map((send) => findEarlier(sql, send)));
  const refusals = new Map<string, Promise<Missing | undefined>>();
  const missing = await Promise.all(sends.map((send) => checkOnce(refusals, sql, heads, send)));
  const stored = new Map<string, NewSend>();
  const touched = new Map<string, NewSend>();

  const results = sends.map((send, index): AppendResult => {
    const key = send.mid === undefined ? undefined : JSON.stringify([send.org, send.kind, send.sender, send.mid]);
    const before = earlier[index] ?? (key === undefined ? undefined : stored.get(key));
    if (before !== undefined) {
      if (before.fingerprint !== send.fingerprint) return { outcome: "conflict" };
      return { outcome: "replayed", id: before.id, mid: send.mid, createdAt: before.createdAt };
    }
    const refusal = missing[index];
    if (refusal !== undefined) return { outcome: "refused", missing: refusal };
    emit(send);
    if (key !== undefined) stored.set(key, send);
    if (send.cid !== undefined) touched.set(JSON.stringify([send.org, send.cid]), send);
    return { outcome: "stored", id: send.id, mid: send.mid, createdAt: send.createdAt };
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
