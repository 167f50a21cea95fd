// The thread that writes to the embedded database. Its flushes and checkpoints stall nobody but itself.
import { parentPort, workerData } from "node:worker_threads";
import type { LogEvent } from "../contract/log-event.ts";
import { migrateStore } from "./migrate.ts";
import { openSqlite } from "./sqlite.ts";
import { type Answer, type Call, packResults, type Report, sendError, unpackSends } from "./sqlite-protocol.ts";
import { createWrites } from "./store.ts";

let committed: LogEvent[] = [];

function report(message: Report): void {
  parentPort?.postMessage(message);
}

async function open(file: string): Promise<void> {
  const driver = openSqlite(file);
  const tell = (message: string, facts: Record<string, string | number>) =>
    report({ kind: "migration", message, facts });
  const versions = await migrateStore(driver, { tell });
  const writes = createWrites({ driver, announce: (events) => committed.push(...events) });
  const ports: Record<string, Record<string, (...args: never[]) => Promise<unknown>>> = {
    ...writes,
    database: { close: driver.close },
  };

  async function answer(call: Call): Promise<Answer> {
    try {
      if (!("sends" in call)) return { value: await ports[call.port]?.[call.method]?.(...(call.args as never[])) };
      const sends = unpackSends(call.sends);
      return { results: packResults(sends, await writes.batches.appendAll(sends)) };
    } catch (error) {
      return { error: sendError(error) };
    }
  }

  async function reportAnswer(call: Call): Promise<void> {
    const ended = await answer(call);
    const events = committed;
    committed = [];
    report({ kind: "answer", id: call.id, events, ...ended });
  }

  parentPort?.on("message", (call: Call) => void reportAnswer(call));
  report({ kind: "opened", ...versions });
}

open(workerData).catch((error: unknown) => report({ kind: "failed", error: sendError(error) }));
