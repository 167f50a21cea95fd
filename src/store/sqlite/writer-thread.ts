import { Worker } from "node:worker_threads";
import type { LogEvent } from "../../contract/log/log-event.ts";
import type { DatabaseEvents } from "../store.ts";
import { createCalls } from "./calls.ts";
import { type Answer, type Opened, type Report, receiveError, type WriteRequest, type WriterData } from "./protocol.ts";

/** Where the writes of the embedded database are made. */
export type Writer = {
  /** The schema versions before and after, and the methods. */
  opened: Opened;
  /** Never rejects. */
  call(request: WriteRequest): Promise<Answer>;
  /** Closes the writer's end: the database itself, if it is this process's. */
  close(): Promise<void>;
};

/** What a writer reports unasked: commits except those of batches, and that it is gone. */
export type WriterEvents = Pick<DatabaseEvents, "onMigration" | "onCrash"> & { onCommitted(events: LogEvent[]): void };

/**
 * Opens the embedded database in a thread that writes, so that no flush to disk blocks any event loop. Rejects with
 * `DatabaseInUseError` if another process has it open.
 */
export async function startWriterThread(
  workerData: WriterData,
  { onCommitted, onCrash, onMigration }: WriterEvents,
): Promise<Writer> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData });
  const calls = createCalls((call) => worker.postMessage(call));
  const opening = Promise.withResolvers<Opened>();
  let hasEnded = false;

  function crash(error: Error): void {
    if (hasEnded) return;
    hasEnded = true;
    opening.reject(error);
    calls.end();
    onCrash(error);
  }

  worker.on("error", crash);
  worker.on("exit", () => crash(new Error("the thread that writes to the database has died")));
  worker.on("message", (message: Report) => {
    if (message.kind === "opened") opening.resolve(message);
    else if (message.kind === "migration") onMigration?.(message.message, message.facts);
    else if (message.kind === "committed") onCommitted(message.events);
    else if (message.kind === "failed") opening.reject(receiveError(message.error));
    else calls.hear(message.id, message);
  });

  try {
    const opened = await opening.promise;
    return {
      opened,
      call: calls.call,
      async close() {
        const wasThere = !hasEnded;
        hasEnded = true;
        if (wasThere) await calls.call({ port: "database", method: "close", args: [] });
        await worker.terminate();
      },
    };
  } catch (error) {
    hasEnded = true;
    await worker.terminate();
    throw error;
  }
}
