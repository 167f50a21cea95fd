// A thread that reads the embedded database. A long read delays only other reads: the threads that serve and write go first.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../lib/thread-priority.ts";
import { type ReadReport, type ReadRequest, sendError } from "./protocol.ts";
import { openSqliteReader } from "./sqlite.ts";

lowerThreadPriority();
const reader = openSqliteReader(workerData);

function report(message: ReadReport): void {
  parentPort?.postMessage(message);
}

async function read({ id, text, values }: Exclude<ReadRequest, "close">): Promise<void> {
  const startedAt = performance.now();
  try {
    const rows = await reader.all(text, ...values);
    report({ kind: "rows", id, rows, tookMs: performance.now() - startedAt });
  } catch (error) {
    report({ kind: "error", id, error: sendError(error) });
  }
}

parentPort?.on("message", (request: ReadRequest) => {
  if (request !== "close") return void read(request);
  reader.close();
  report({ kind: "closed" });
});
report({ kind: "opened" });
