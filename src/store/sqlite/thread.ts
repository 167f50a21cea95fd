import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { readDiskSpace } from "../../lib/disk-space.ts";
import { createLoneBusSecrets, createLoneRegistry } from "../nodes/nodes.ts";
import type { Database, DatabaseEvents, Writes } from "../store.ts";
import { createOwnFiles } from "./own-files.ts";
import {
  type Call,
  type Methods,
  packSends,
  type Report,
  receiveError,
  type SentOutcome,
  unpackOutcomes,
  type WriteRequest,
} from "./protocol.ts";
import { openSqliteReaders, type SqliteReaders } from "./readers.ts";

// One batch is committed while the next is prepared; measured in docs/decisions/0010.
const overlap = { depth: 2, from: 24 };
const lookEveryMs = 1_000;
const leastFreeBytes = 1_048_576; // a send of the largest body takes more

/**
 * Opens the embedded database with one thread for writing, so that no flush to disk blocks the serving event loop, and
 * two for reading. Rejects with `DatabaseInUseError` if another process has it open.
 */
export async function openSqliteThread(
  file: string,
  { announce, onCrash, onMigration }: DatabaseEvents,
): Promise<Database> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: file });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const opening = Promise.withResolvers<Extract<Report, { kind: "opened" }>>();
  let lastId = 0;
  let hasCrashed = false;
  let isClosing = false;
  let readers: SqliteReaders | undefined;

  function crash(error: Error): void {
    if (hasCrashed || isClosing) return;
    hasCrashed = true;
    opening.reject(error);
    for (const { reject } of waiting.values()) reject(gone());
    waiting.clear();
    void readers?.abandon();
    onCrash(error);
  }

  worker.on("error", crash);
  worker.on("exit", () => crash(new Error("the thread that writes to the database has died")));
  worker.on("message", (message: Report) => {
    if (message.kind === "opened") opening.resolve(message);
    else if (message.kind === "migration") onMigration?.(message.message, message.facts);
    else if (message.kind === "committed") announce(message.events);
    else if (message.kind === "failed") opening.reject(receiveError(message.error));
    else {
      const call = waiting.get(message.id);
      waiting.delete(message.id);
      if ("error" in message) call?.reject(receiveError(message.error));
      else call?.resolve("outcomes" in message ? message.outcomes : message.value);
    }
  });

  function send(request: WriteRequest): Promise<unknown> {
    if (hasCrashed) return Promise.reject(gone());
    const id = ++lastId;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    worker.postMessage({ id, ...request } satisfies Call);
    return answer.promise;
  }

  try {
    const { from, to, methods } = await opening.promise;
    const reader = await openSqliteReaders({ file, onCrash: crash });
    readers = reader;
    const ownFiles = createOwnFiles(file);
    const look = async () => {
      await ownFiles.check();
      const { freeBytes } = await readDiskSpace(dirname(file));
      if (freeBytes < leastFreeBytes) throw new HeraldError("storage_full");
    };
    return {
      reader,
      nodes: createLoneRegistry(),
      busSecrets: createLoneBusSecrets(),
      async sizes() {
        const [database, log] = await Promise.all([stat(file), stat(`${file}-wal`)]);
        return { engine: "sqlite", bytes: database.size, logBytes: log.size };
      },
      watch: { look, everyMs: lookEveryMs },
      overlap,
      migrated: { from, to },
      writes: remoteWrites(methods, send),
      async close() {
        isClosing = true;
        await reader.close(); // first, as the last connection to close cleans up the write-ahead log
        if (!hasCrashed) await send({ port: "database", method: "close", args: [] });
        await worker.terminate();
        ownFiles.close();
      },
    };
  } catch (error) {
    isClosing = true;
    await worker.terminate();
    throw error;
  }
}

/** The writes of the other thread. The protocol defines the types of their results: both ends are this code. */
function remoteWrites(methods: Methods, send: (request: WriteRequest) => Promise<unknown>): Writes {
  const call = <Result>(port: string, method: string, ...args: unknown[]) =>
    send({ port, method, args }) as Promise<Result>;
  const portOf = (port: string, names: readonly string[]) =>
    Object.fromEntries(names.map((method) => [method, call.bind(undefined, port, method)]));
  const ports = Object.fromEntries(
    Object.entries(methods).map(([port, names]) => [port, portOf(port, names)]),
  ) as Writes;
  return {
    ...ports,
    batches: {
      ...ports.batches,
      appendAll: async (sends) => unpackOutcomes(sends, (await send({ sends: packSends(sends) })) as SentOutcome[]),
    },
    // Each as one text: cloning 100,000 participants takes 50 ms, and cloning the objects of a part five times as long.
    conversations: {
      ...ports.conversations,
      put: (org, cid, put, ...more) => call("conversations", "put", org, cid, JSON.stringify(put), ...more),
    },
    imports: {
      add: (part) => call("imports", "add", JSON.stringify(part)),
      check: (part, also) => call("imports", "check", JSON.stringify(part), also),
    },
  };
}

function gone(): HeraldError {
  return unavailable({
    detail: "the database thread has died, and the server must restart; try again later",
    retryAfterSeconds: 5,
  });
}
