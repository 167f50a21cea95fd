import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { readDiskSpace } from "../../lib/disk-space.ts";
import { createLoneBusSecrets } from "../nodes/bus-secrets.ts";
import { createLoneRegistry } from "../nodes/nodes.ts";
import type { KeyProof, NewSend, Put, SendOutcome } from "../ports.ts";
import type { Database, DatabaseEvents, Writes } from "../store.ts";
import type { ImportOutcome } from "../transfer/ports.ts";
import { createOwnFiles } from "./own-files.ts";
import {
  type Call,
  packPart,
  packPut,
  packSends,
  type Report,
  receiveError,
  type SentOutcome,
  type SentPut,
  unpackOutcomes,
} from "./protocol.ts";
import { openSqliteReaders, type SqliteReaders } from "./readers.ts";
import { readSqliteSizes } from "./sizes.ts";

// One batch is committed while the next is prepared; measured in docs/decisions/0010.
const overlap = { depth: 2, from: 24 };
const lookEveryMs = 1_000;
const leastFreeBytes = 1_048_576; // a send of the largest body takes more

type Waiting = { resolve(value: unknown): void; reject(error: Error): void };

/**
 * Opens the embedded database with one thread for writing, so that no flush to disk blocks the serving event loop, and
 * two for reading. Rejects with `DatabaseInUseError` if another process has it open.
 */
export async function openSqliteThread(
  file: string,
  { announce, onCrash, onMigration }: DatabaseEvents,
): Promise<Database> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: file });
  const waiting = new Map<number, Waiting>();
  const opening = Promise.withResolvers<{ from: number; to: number }>();
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

  function send(call: { port: string; method: string; args: unknown[] } | { sends: string }): Promise<unknown> {
    if (hasCrashed) return Promise.reject(gone());
    const id = ++lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, ...call } satisfies Call);
    return promise;
  }

  async function appendAll(sends: NewSend[]): Promise<SendOutcome[]> {
    // The protocol defines the type of the result; both ends are this code.
    return unpackOutcomes(sends, (await send({ sends: packSends(sends) })) as SentOutcome[]);
  }

  /** Calls a method of the other thread; here, too, both ends are this code. */
  function remote<Port extends keyof Writes, Method extends keyof Writes[Port] & string>(port: Port, method: Method) {
    return ((...args: unknown[]) => send({ port, method, args })) as Writes[Port][Method];
  }

  /** Here, too, both ends are this code. */
  async function putPacked(
    ...args: [org: string, cid: string, put: SentPut, now: number, by: KeyProof | undefined]
  ): Promise<Put | undefined> {
    return (await send({ port: "conversations", method: "put", args })) as Put | undefined;
  }

  /** Here, too, both ends are this code. */
  async function callPacked(method: "add" | "check", ...args: unknown[]): Promise<ImportOutcome | undefined> {
    return (await send({ port: "imports", method, args })) as ImportOutcome | undefined;
  }

  try {
    const migrated = await opening.promise;
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
      sizes: () => readSqliteSizes(file),
      watch: { look, everyMs: lookEveryMs },
      overlap,
      migrated: { from: migrated.from, to: migrated.to },
      writes: {
        batches: { appendAll, check: remote("batches", "check") },
        trial: { run: remote("trial", "run") },
        organizations: { put: remote("organizations", "put"), remove: remote("organizations", "remove") },
        users: {
          put: remote("users", "put"),
          ensure: remote("users", "ensure"),
          remove: remote("users", "remove"),
          endSessions: remote("users", "endSessions"),
          revokeToken: remote("users", "revokeToken"),
          noteSeen: remote("users", "noteSeen"),
        },
        conversations: {
          put: (org, cid, put, now, by) => putPacked(org, cid, packPut(put), now, by),
          remove: remote("conversations", "remove"),
        },
        participants: { add: remote("participants", "add"), remove: remote("participants", "remove") },
        keys: {
          create: remote("keys", "create"),
          rotate: remote("keys", "rotate"),
          revoke: remote("keys", "revoke"),
          markUsed: remote("keys", "markUsed"),
        },
        imports: {
          add: (part) => callPacked("add", packPart(part)),
          check: (part, also) => callPacked("check", packPart(part), also),
        },
        changes: {
          edit: remote("changes", "edit"),
          recall: remote("changes", "recall"),
          checkEdit: remote("changes", "checkEdit"),
          checkRecall: remote("changes", "checkRecall"),
        },
        audit: { append: remote("audit", "append") },
        deliveries: {
          record: remote("deliveries", "record"),
          acknowledge: remote("deliveries", "acknowledge"),
        },
        erasures: { begin: remote("erasures", "begin"), erase: remote("erasures", "erase") },
        readMarks: { markAll: remote("readMarks", "markAll") },
        retention: { step: remote("retention", "step"), count: remote("retention", "count") },
        files: {
          begin: remote("files", "begin"),
          create: remote("files", "create"),
          replace: remote("files", "replace"),
          remove: remote("files", "remove"),
          discard: remote("files", "discard"),
          release: remote("files", "release"),
          expire: remote("files", "expire"),
          unwanted: remote("files", "unwanted"),
          forget: remote("files", "forget"),
        },
        schedule: {
          put: remote("schedule", "put"),
          cancel: remote("schedule", "cancel"),
          cancelSome: remote("schedule", "cancelSome"),
          settle: remote("schedule", "settle"),
        },
        webhooks: {
          put: remote("webhooks", "put"),
          rotate: remote("webhooks", "rotate"),
          disable: remote("webhooks", "disable"),
          remove: remote("webhooks", "remove"),
        },
        webhookDeliveries: {
          settle: remote("webhookDeliveries", "settle"),
          settleParts: remote("webhookDeliveries", "settleParts"),
          claim: remote("webhookDeliveries", "claim"),
          finish: remote("webhookDeliveries", "finish"),
          add: remote("webhookDeliveries", "add"),
          restart: remote("webhookDeliveries", "restart"),
          postpone: remote("webhookDeliveries", "postpone"),
        },
      },
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

function gone(): HeraldError {
  return unavailable({
    detail: "the database thread has died, and the server must restart; try again later",
    retryAfterSeconds: 5,
  });
}
