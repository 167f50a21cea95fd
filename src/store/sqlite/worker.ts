// The thread that writes to the embedded database. Its flushes and checkpoints block no other thread.
import { parentPort, workerData } from "node:worker_threads";
import { createThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { mostOfCommit } from "../log/send-log.ts";
import { migrateStore } from "../migrate.ts";
import { createLoneRegistry } from "../nodes/nodes.ts";
import type { KeyProof } from "../ports.ts";
import { createWrites } from "../store.ts";
import type { ImportItem } from "../transfer/ports.ts";
import {
  type Answer,
  type Call,
  packOutcomes,
  type Report,
  sendError,
  unpackSends,
  type WriterData,
} from "./protocol.ts";
import { shareCommits } from "./share-commits.ts";
import { openSqlite } from "./sqlite.ts";

const longText = 64 * 1024;
const parsingUs = 10_000;

function report(message: Report): void {
  parentPort?.postMessage(message);
}

async function open({ file, isShared }: WriterData): Promise<void> {
  const driver = openSqlite(file);
  const tell = (message: string, facts: Record<string, string | number>) =>
    report({ kind: "migration", message, facts });
  const versions = await migrateStore(driver, { tell });
  const thread = createThreadScheduler();
  const writes = createWrites({ driver, thread, announce: (events) => report({ kind: "committed", events }) });
  const { conversations, imports } = writes;
  async function putConversation(org: string, cid: string, put: string, now: number, by?: KeyProof): Promise<unknown> {
    // Parsing 100,000 participants takes about 10 ms; sends get their turn between two sets.
    if (put.length > longText) await thread.turn(org, parsingUs);
    return await conversations.put(org, cid, JSON.parse(put), now, by);
  }
  const ports: Record<string, Record<string, (...args: never[]) => Promise<unknown>>> = {
    ...writes,
    conversations: { ...conversations, put: putConversation },
    imports: {
      add: (part: string) => imports.add(JSON.parse(part)),
      check: (part: string, also: ImportItem[]) => imports.check(JSON.parse(part), also),
    },
    nodes: createLoneRegistry(), // of the processes that share this thread
    database: { close: driver.close },
  };

  const { appendAll: commit } = writes.batches;
  const appendAll = isShared ? shareCommits(commit, mostOfCommit) : commit;

  async function answer(call: Call): Promise<Answer> {
    try {
      if (!("sends" in call)) return { value: await ports[call.port]?.[call.method]?.(...(call.args as never[])) };
      const sends = unpackSends(call.sends);
      return { outcomes: packOutcomes(sends, await appendAll(sends)) };
    } catch (error) {
      return { error: sendError(error) };
    }
  }

  async function reportAnswer(call: Call): Promise<void> {
    report({ kind: "answer", id: call.id, ...(await answer(call)) });
  }

  parentPort?.on("message", (call: Call) => void reportAnswer(call));
  const methods = Object.fromEntries(Object.entries(writes).map(([port, of]) => [port, Object.keys(of)]));
  report({ kind: "opened", ...versions, methods });
}

open(workerData).catch((error: unknown) => report({ kind: "failed", error: sendError(error) }));
