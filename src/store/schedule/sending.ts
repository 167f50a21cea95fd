import { appendInTransaction, findCircumstances } from "../log/batch-log.ts";
import type { LogTransaction } from "../log/log-writer.ts";
import type { NewSend, SendOutcome } from "../ports.ts";
import type { Decided, Failure, Settled } from "./ports.ts";

/** What became of a send, and what its row keeps of that. */
export type Ended = {
  tryId: string;
  settled: Exclude<Settled, { state: "over" }>;
  endedAt: number;
  serverMid: string | null;
};

/**
 * Appends those of these sends that the log accepts, in the transaction that notes what became of them; the others have failed.
 * Throws for a failure that is not theirs.
 */
export async function sendEach(
  transaction: LogTransaction,
  entries: readonly Decided[],
  now: number,
): Promise<Ended[]> {
  const outcomes = await append(transaction, entries);
  return entries.map((entry) => ({ tryId: entry.tryId, ...endOf(entry, outcomes.get(entry.id), now) }));
}

async function append(transaction: LogTransaction, entries: readonly Decided[]): Promise<Map<string, SendOutcome>> {
  const ids: string[] = [];
  const sends: NewSend[] = [];
  for (const entry of entries) {
    if (!("send" in entry)) continue;
    ids.push(entry.id);
    sends.push(entry.send);
  }
  if (sends.length === 0) return new Map();
  const circumstances = await findCircumstances(transaction.sql, sends);
  const outcomes = appendInTransaction(transaction, circumstances, sends);
  return new Map(outcomes.map((outcome, index) => [ids[index] ?? "", outcome]));
}

function endOf(entry: Decided, outcome: SendOutcome | undefined, now: number): Omit<Ended, "tryId"> {
  const { id } = entry;
  const failed = (failure: Failure) => ({
    settled: { id, state: "failed" as const, failure },
    endedAt: now,
    serverMid: null,
  });
  if ("failure" in entry) return failed(entry.failure);
  if (outcome === undefined) throw new Error("a due send without an outcome");
  if (outcome.outcome === "failed") throw outcome.error;
  if (outcome.outcome === "unfit") throw new Error("no piece of a message is sent later");
  if (outcome.outcome !== "stored" && outcome.outcome !== "replayed") {
    const { org, kind, sender, cid, mid } = entry.send;
    return failed({ ...outcome, of: { org, kind, sender, cid, mid } });
  }
  // A retry of a message has the id of the first one; a system message is known by the caller's id.
  const serverMid = entry.send.kind === "message" ? outcome.id : entry.serverMid;
  const settled = { id, state: "sent", isNew: outcome.outcome === "stored" } as const;
  return { settled, endedAt: outcome.createdAt, serverMid };
}
