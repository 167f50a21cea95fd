import { HeraldError } from "../contract/errors.ts";
import type { Rows } from "./driver.ts";
import type { LogTransaction, LogWriter } from "./log-writer.ts";
import type { AppendResult, BatchLog, BatchResult, NewSend } from "./ports.ts";

type Missing = Extract<AppendResult, { outcome: "refused" }>["missing"];
type Earlier = Pick<NewSend, "id" | "createdAt" | "fingerprint">;

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

async function appendBatch({ sql: { rows }, heads, emit }: LogTransaction, sends: NewSend[]): Promise<BatchResult[]> {
  const [known, conversations, participants, users] = await Promise.all([
    findEarlier(rows, sends),
    findConversations(rows, sends),
    findParticipants(rows, sends),
    findUsers(rows, sends),
  ]);

  function missingOf({ org, cid, sender }: NewSend): Missing | undefined {
    if (cid === undefined) return users.has(keyOf(org, sender)) ? undefined : "user";
    if (!conversations.has(keyOf(org, cid))) return "conversation";
    return participants.has(keyOf(org, cid, sender)) ? undefined : "participant";
  }

  const touched = new Map<string, { org: string; id: string; updated_at: number }>();
  const results = sends.map((send): BatchResult => {
    const { org, cid, mid, createdAt } = send;
    if (!heads.has(org)) return { outcome: "refused", missing: "organization" }; // its sends may still be there
    const key = mid === undefined ? undefined : sendKeyOf(send, mid);
    const before = key === undefined ? undefined : known.get(key);
    if (before !== undefined) {
      if (before.fingerprint !== send.fingerprint) return { outcome: "conflict" };
      return { outcome: "replayed", id: before.id, mid, createdAt: before.createdAt };
    }
    const missing = missingOf(send);
    if (missing !== undefined) return { outcome: "refused", missing };
    if (key !== undefined) known.set(key, send);
    if (cid !== undefined) {
      const conversation = keyOf(org, cid);
      const updatedAt = touched.get(conversation)?.updated_at ?? conversations.get(conversation) ?? 0;
      if (createdAt > updatedAt) touched.set(conversation, { org, id: cid, updated_at: createdAt });
    }
    return { outcome: "stored", offset: emit(send) };
  });

  await rows.update("conversation", ["org", "id"], [...touched.values()]);
  return results;
}

async function findEarlier(rows: Rows, sends: NewSend[]): Promise<Map<string, Earlier>> {
  const keys = distinct(sends, (send) =>
    send.mid === undefined
      ? undefined
      : [sendKeyOf(send, send.mid), { org: send.org, kind: send.kind, sender: send.sender, mid: send.mid }],
  );
  const columns = ["org", "kind", "sender", "mid", "id", "created_at", "fingerprint"];
  type Found = Pick<NewSend, "org" | "kind" | "sender" | "id" | "fingerprint"> & { mid: string; created_at: number };
  const found = await rows.find<Found>("event", columns, keys);
  return new Map(found.map((row) => [sendKeyOf(row, row.mid), { ...row, createdAt: Number(row.created_at) }]));
}

/** The conversations that are written to, with the time of their last message. */
async function findConversations(rows: Rows, sends: NewSend[]): Promise<Map<string, number>> {
  const keys = distinct(sends, ({ org, cid }) => (cid === undefined ? undefined : [keyOf(org, cid), { org, id: cid }]));
  const found = await rows.find<{ org: string; id: string; updated_at: number }>(
    "conversation",
    ["org", "id", "updated_at"],
    keys,
  );
  return new Map(found.map(({ org, id, updated_at }) => [keyOf(org, id), Number(updated_at)]));
}

async function findParticipants(rows: Rows, sends: NewSend[]): Promise<Set<string>> {
  const keys = distinct(sends, ({ org, cid, sender: uid }) =>
    cid === undefined ? undefined : [keyOf(org, cid, uid), { org, cid, uid }],
  );
  type Found = { org: string; cid: string; uid: string };
  const found = await rows.find<Found>("participant", ["org", "cid", "uid"], keys);
  return new Set(found.map(({ org, cid, uid }) => keyOf(org, cid, uid)));
}

async function findUsers(rows: Rows, sends: NewSend[]): Promise<Set<string>> {
  const keys = distinct(sends, ({ org, cid, sender: id }) =>
    cid === undefined ? [keyOf(org, id), { org, id }] : undefined,
  );
  type Found = { org: string; id: string; deleted_at: number | null };
  const found = await rows.find<Found>("user", ["org", "id", "deleted_at"], keys);
  return new Set(found.filter(({ deleted_at }) => deleted_at === null).map(({ org, id }) => keyOf(org, id)));
}

/** Many sends of a batch ask the same: each question once. */
function distinct<Key>(sends: NewSend[], keyOfSend: (send: NewSend) => [text: string, key: Key] | undefined): Key[] {
  const keys = new Map<string, Key>();
  for (const send of sends) {
    const entry = keyOfSend(send);
    if (entry !== undefined) keys.set(...entry);
  }
  return [...keys.values()];
}

function sendKeyOf({ org, kind, sender }: Pick<NewSend, "org" | "kind" | "sender">, mid: string): string {
  return keyOf(org, kind, sender, mid);
}

/** Identifiers hold no control characters, so this one keeps them apart. */
function keyOf(...ids: string[]): string {
  return ids.join("\u001f");
}
