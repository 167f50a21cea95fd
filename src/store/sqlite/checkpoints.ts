import type { Database } from "bun:sqlite";
import type { Turn } from "../../lib/queues/queue.ts";

// How many pages the write-ahead log may hold before a checkpoint, for which sends wait: 4,000 take 10 to 15 ms, 1,000 take 4 to
// 7. Batches of sends rewrite the same pages, parts of imports do so less, other changes do not; so for the first two, fewer
// pages at once cost more in all.
const pagesPerCheckpoint = { batch: 2_000, bulk: 500, others: 250 };
const mostPages = 8_000; // then a commit copies them itself
// SQLite before 3.51, as in some versions of macOS, does not tell how many pages the log holds; then commits copy them.
const firstThatTells = ">=3.51.0";
const pagesUntold = 500;
// Long texts fill pages that nothing rewrites, so a checkpoint takes time for each: 4 MiB take some 4 ms, and one comes
// after half of that, counted in characters. So do the rows of webhooks, of which a batch of sends may write hundreds.
const longCharacters = 4_096; // a page
const dueRowCharacters = 300; // with its indexes
const longPerCheckpoint = 2 * 1024 * 1024;

const forgottenAfterMs = 500;
const mayWaitMs = 10; // for readers, while writers wait

type Options = {
  /** The connection that writes, in WAL mode. */
  writer: Database;
  /** The time that it waits for others, except to forget. */
  busyTimeoutMs: number;
  /** Runs work between transactions. Rejects once the database is closing, which makes a checkpoint and empties the log. */
  between(work: () => Promise<void>): Promise<void>;
  /** Throws if the files are no longer those at their paths: then nothing is copied from one to another. */
  requireFiles(): void;
};

/**
 * Creates the checkpoints of a database, which copy pages from the write-ahead log to it, a bounded number at a time. Each has a
 * turn of its own: if a commit ran it, a send that waits for the writer would wait for both. They keep the promise of
 * `Transaction.forget`, too: `secure_delete` overwrites what is deleted, in the file, with zeros; earlier versions of a page
 * stay in the log until a checkpoint truncates it, at most twice a second.
 */
export function createCheckpoints({ writer, busyTimeoutMs, between, requireFiles }: Options) {
  const look = tellsPages(writer) ? writer.prepare<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)") : undefined;
  let longWritten = 0;
  let isComing = false;
  let forgettingTimer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  writer.run("PRAGMA secure_delete = ON"); // costs inserts nothing; measured in docs/decisions/0049
  writer.run(`PRAGMA wal_autocheckpoint = ${look === undefined ? pagesUntold : mostPages}`);

  function isDue(turn: Turn): boolean {
    if (longWritten >= longPerCheckpoint) return true;
    return (look?.get()?.log ?? 0) >= pagesPerCheckpoint[kindOf(turn)];
  }

  async function checkpoint(): Promise<void> {
    isComing = false;
    longWritten = 0;
    requireFiles();
    writer.run("PRAGMA wal_checkpoint(PASSIVE)");
  }

  function isTruncated(): boolean {
    writer.run(`PRAGMA busy_timeout = ${mayWaitMs}`);
    try {
      return writer.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
    } catch {
      return false; // a full disk, for example; the next attempt may find room
    } finally {
      writer.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  /** Empties the log within a second, however often this is called meanwhile; while long reads keep it in use, after them. */
  function forgetSoon(): void {
    if (isStopped) return;
    forgettingTimer ??= setTimeout(() => {
      forgettingTimer = undefined;
      between(async () => {
        requireFiles();
        if (!isTruncated()) forgetSoon();
      }).catch(() => undefined);
    }, forgottenAfterMs);
  }

  return {
    /** Returns the function that counts the long texts in the values of a row that a statement writes. */
    rowsOf(statement: string): (values: readonly unknown[]) => void {
      const ofRow = statement.startsWith('INSERT INTO "webhook_due"') ? dueRowCharacters : 0;
      return (values) => {
        longWritten += ofRow;
        for (const value of values)
          if (typeof value === "string" && value.length > longCharacters) longWritten += value.length;
      };
    },
    /** Lets a checkpoint follow a commit if one is due. `forgets`: it took a text out of the database. */
    afterCommit(turn: Turn, forgets: boolean): void {
      if (forgets) forgetSoon();
      if (isComing || !isDue(turn)) return;
      isComing = true;
      between(checkpoint).catch(() => undefined); // a full disk, for example; the next commit tries again
    },
    /** Forgets nothing more: closing the database empties the log. */
    stop(): void {
      isStopped = true;
      clearTimeout(forgettingTimer);
    },
  };
}

function tellsPages(database: Database): boolean {
  const { version = "" } = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get() ?? {};
  return Bun.semver.satisfies(version, firstThatTells);
}

function kindOf(turn: Turn): keyof typeof pagesPerCheckpoint {
  if (turn === "batch") return "batch";
  return turn.isBulk ? "bulk" : "others";
}
