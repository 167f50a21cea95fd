import { Worker } from "node:worker_threads";
import { unavailable } from "../../contract/errors/errors.ts";
import { threadSliceUs } from "../../lib/event-loop/thread-scheduler.ts";
import { createFairQueue, shareOfFree } from "../../lib/queues/fair-queue.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { type ReadReport, type ReadRequest, receiveError } from "./protocol.ts";

const threads = 2; // so that one long read does not block all others
const maxWaiting = 20_000;
// Short reads are sent ahead, so that a thread need not wait for the event loop between them; nothing is sent behind a
// long read.
const sentAhead = 4;
const short = { ms: 1, rows: 100 };
// Bun delivers messages from threads until none are left, and each answer sends the next read: if reads did not end with a
// slice of the serving thread, one turn of the event loop would last as long as reads are waiting. Rows cost that thread
// time, too: a page of a thousand leaves no room for another read in its turn. In microseconds:
const costs = { read: 63, row: 1 };

type Read = { text: string; values: SqlValue[]; resolve(rows: Row[]): void; reject(error: Error): void };
type Thread = { worker: Worker; reads: Map<number, Read>; depth: number; closed: PromiseWithResolvers<void> };

type Options = {
  /** A file created by `openSqlite`. */
  file: string;
  /** Called once if a thread dies after opening, which cannot be repaired: reads are refused from then on. */
  onCrash(error: Error): void;
  /** The script that the threads run. */
  entry?: URL;
};

/** Reads on threads of their own. */
export type SqliteReaders = Reader & {
  /** Refuses waiting and new reads, and resolves when the running ones have ended. */
  close(): Promise<void>;
  /** Closes at once, when the database is lost. */
  abandon(): Promise<void>;
};

/**
 * Opens the embedded database for reading on two threads, so that no read blocks the event loop. Organizations take
 * turns; reads over several have a turn of their own. A bounded number is sent per turn of the event loop. A read sees
 * everything committed before it was requested.
 */
export async function openSqliteReaders({ file, onCrash, entry }: Options): Promise<SqliteReaders> {
  const queue = createFairQueue<Read>({ maxItems: maxWaiting, share: shareOfFree });
  const opening = Promise.withResolvers<void>();
  let opened = 0;
  let lastId = 0;
  let state: "open" | "closing" | "lost" = "open";
  const pool = Array.from({ length: threads }, start);
  let spentUs = 0; // in this turn of the event loop

  function start(): Thread {
    const worker = new Worker(entry ?? new URL("./reader-worker.ts", import.meta.url), { workerData: file });
    const thread: Thread = { worker, reads: new Map(), depth: 1, closed: Promise.withResolvers() };
    worker.on("error", crash);
    worker.on("exit", () => crash(new Error("a thread that reads the database has died")));
    worker.on("message", (report: ReadReport) => {
      if (report.kind === "opened" && ++opened === threads) opening.resolve();
      if (report.kind === "closed") thread.closed.resolve();
      if (report.kind === "rows") {
        thread.depth = report.tookMs < short.ms && report.rows.length < short.rows ? sentAhead : 1;
        spend(report.rows.length * costs.row);
        end(thread, report.id)?.resolve(report.rows);
      }
      if (report.kind === "error") end(thread, report.id)?.reject(receiveError(report.error));
    });
    return thread;
  }

  /** Sends the next reads before the caller gets this one's result. */
  function end(thread: Thread, id: number): Read | undefined {
    const read = thread.reads.get(id);
    thread.reads.delete(id);
    if (state === "closing" && thread.reads.size === 0) post(thread, "close");
    fill(thread);
    return read;
  }

  function spend(costUs: number): void {
    if (spentUs === 0 && costUs > 0) {
      setImmediate(() => {
        spentUs = 0;
        pool.forEach(fill);
      });
    }
    spentUs += costUs;
  }

  function fill(thread: Thread): void {
    while (thread.reads.size < thread.depth && queue.size > 0 && spentUs < threadSliceUs) {
      const next = queue.take();
      if (next !== undefined) send(thread, next);
    }
  }

  function send(thread: Thread, read: Read): void {
    const { text, values } = read;
    spend(costs.read);
    thread.reads.set(++lastId, read);
    post(thread, { id: lastId, text, values });
  }

  function post({ worker }: Thread, request: ReadRequest): void {
    worker.postMessage(request);
  }

  function findFree(): Thread | undefined {
    const thread = pool.reduce((least, each) => (each.reads.size < least.reads.size ? each : least));
    return thread.reads.size < thread.depth && spentUs < threadSliceUs ? thread : undefined;
  }

  function read(key: string, text: string, values: SqlValue[]): Promise<Row[]> {
    if (state !== "open") return Promise.reject(gone());
    const thread = queue.size === 0 ? findFree() : undefined;
    if (thread === undefined && !queue.hasRoom(key))
      return Promise.reject(unavailable({ detail: "too many reads are waiting for the database; try again" }));
    return new Promise((resolve, reject) => {
      const asked = { text, values, resolve, reject };
      if (thread === undefined) queue.add(key, asked);
      else send(thread, asked);
    });
  }

  function refuseWaiting(): void {
    for (let next = queue.take(); next !== undefined; next = queue.take()) next.reject(gone());
  }

  function lose(): void {
    state = "lost";
    refuseWaiting();
    for (const { reads, closed } of pool) {
      for (const { reject } of reads.values()) reject(gone());
      reads.clear();
      closed.resolve();
    }
  }

  function crash(error: Error): void {
    if (state !== "open") return;
    lose();
    opening.reject(error);
    if (opened === threads) onCrash(error);
  }

  async function terminate(): Promise<void> {
    await Promise.all(pool.map(({ worker }) => worker.terminate()));
  }

  async function abandon(): Promise<void> {
    lose();
    await terminate();
  }

  try {
    await opening.promise;
  } catch (error) {
    await terminate();
    throw error;
  }

  // The caller names the shape, as everywhere in the driver.
  const all = async <Shape extends Row>(text: string, ...values: SqlValue[]) =>
    (await read("", text, values)) as Shape[];

  return {
    dialect: sqliteDialect,
    all,
    allOfEvery: all,
    allOf: async <Shape extends Row>(org: string | readonly string[], text: string, ...values: SqlValue[]) =>
      (await read(typeof org === "string" ? org : "", text, values)) as Shape[],
    async close() {
      if (state !== "open") return;
      state = "closing";
      refuseWaiting();
      for (const thread of pool) if (thread.reads.size === 0) post(thread, "close");
      await Promise.all(pool.map(({ closed }) => closed.promise));
      await terminate();
    },
    abandon,
  };
}

function gone(): Error {
  return unavailable({
    detail: "the database is closed because this node is shutting down; try again later",
    retryAfterSeconds: 5,
  });
}
