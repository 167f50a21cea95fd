import type { BetweenCommits } from "./checkpoints.ts";

const soonMs = 500;
const mayWaitMs = 10; // for readers, while writers wait

/** Empties the write-ahead log after texts were taken out of the database. */
export type Forgetting = {
  /** Empties it within a second, however often this is called meanwhile; while long reads keep it in use, after them. */
  soon(): void;
  stop(): void;
};

type Options = BetweenCommits & {
  /** The time that the writer waits for others otherwise. */
  busyTimeoutMs: number;
};

/**
 * Creates what keeps the promise of `Transaction.forget`: `secure_delete` overwrites what is deleted, in the file, with zeros;
 * earlier versions of a page stay in the write-ahead log until a checkpoint truncates it. It runs outside of transactions, so
 * that no commit waits for it, and at most twice a second, however many texts are taken out.
 */
export function createForgetting({ writer, busyTimeoutMs, between, requireFiles }: Options): Forgetting {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  writer.run("PRAGMA secure_delete = ON"); // costs inserts nothing; measured in docs/decisions/0049

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

  function soon(): void {
    if (isStopped) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      between(async () => {
        requireFiles();
        if (!isTruncated()) soon();
      }).catch(() => undefined);
    }, soonMs);
  }

  return {
    soon,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
