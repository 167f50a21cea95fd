import { closeSync, openSync, read, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { type HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { type Clock, systemClock } from "../../lib/time/clock.ts";

const readLater = promisify(read);
const magic = new TextEncoder().encode("SQLite format 3\0");
// https://sqlite.org/fileformat2.html: 1 is a rollback journal, 2 a write-ahead log.
const journalAt = 18;
const rollback = 1;
const headerBytes = journalAt + 1;
const coarsestTimeMs = 2_000; // of a file system: most tell changes apart that are 4 ms apart, some only whole seconds

/** The files of an open database were removed or replaced: what is written to it is gone when the process ends. */
class FilesReplacedError extends Error {
  override readonly name = "FilesReplacedError";
}

/**
 * Takes note of the files of a database that is open in WAL mode, to notice that they are no longer those at their paths, or
 * hold a backup. `clock` is the clock of the file system.
 */
export function createOwnFiles(file: string, clock: Clock = systemClock) {
  const paths = [file, `${file}-wal`];
  const own = paths.map((path) => identityOf(statSync(path, { throwIfNoEntry: false })));
  const descriptor = openSync(file, "r");
  const header = new Uint8Array(headerBytes);
  readSync(descriptor, header, 0, headerBytes, 0);
  const isLogged = !isUnopenedCopy(header); // SQLite has no write-ahead log on file systems without shared memory
  const folder = dirname(realpathSync(file));
  let settled: number | undefined; // the last change of the folder in which these were the files, unless it is too recent

  /**
   * A file that is removed or replaced by another changes the folder. To look at the write-ahead log itself after each commit would
   * make each flush dearer: Linux then gives the next write a time of its own, which ext4 has to store as well.
   */
  function compareIfChanged(): void {
    const changed = statSync(folder, { throwIfNoEntry: false })?.ctimeMs;
    if (changed !== undefined && changed === settled) return;
    compare(paths.map((path) => identityOf(statSync(path, { throwIfNoEntry: false }))));
    settled = changed !== undefined && clock.now() - changed > coarsestTimeMs ? changed : undefined;
  }

  function compare(found: readonly string[]): void {
    const index = found.findIndex((identity, position) => identity !== own[position]);
    if (index !== -1) throw replaced(paths[index] ?? file, found[index] === nothing ? "removed" : "replaced");
  }

  function compareHeader(): void {
    if (isLogged && isUnopenedCopy(header)) throw replaced(file, "overwritten with a backup");
  }

  return {
    /** Throws `unavailable` if it is so. Takes a few microseconds. */
    require(): void {
      compareIfChanged();
      readSync(descriptor, header, 0, headerBytes, 0);
      compareHeader();
    },
    /** Like `require`, without blocking. */
    async check(): Promise<void> {
      compare(await Promise.all(paths.map(async (path) => identityOf(await stat(path).catch(() => undefined)))));
      await readLater(descriptor, header, 0, headerBytes, 0);
      compareHeader();
    },
    /** Only after the database has been closed: closing a file ends all locks that its process has on it. */
    close: () => closeSync(descriptor),
  };
}

const nothing = "";

/** The device and the inode, which stay while a file is open. */
function identityOf(stats: Stats | undefined): string {
  return stats === undefined ? nothing : `${stats.dev}:${stats.ino}`;
}

function replaced(path: string, how: string): HeraldError {
  return unavailable({ cause: new FilesReplacedError(`${path} was ${how} while this node has it open`) });
}

/**
 * Whether this is the beginning of a backup that no server has opened: it says that it has no write-ahead log, until a
 * server gives it one. The file of a database that is in use never says so.
 */
function isUnopenedCopy(header: Uint8Array): boolean {
  return header[journalAt] === rollback && magic.every((byte, index) => header[index] === byte);
}

/** Beside a copy of a database lies the write-ahead log of another one. SQLite would play it into the copy. */
export class ForeignLogError extends Error {
  override readonly name = "ForeignLogError";
}

/**
 * Throws `ForeignLogError` if a backup was put in the place of a database whose write-ahead log stayed. Not for a file
 * that this process has open: closing a file ends all locks that its process has on it.
 */
export function refuseForeignLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0 || !isUnopenedCopy(headerOf(file))) return;
  const name = basename(file);
  throw new ForeignLogError(
    `${name} is a backup that was put in the place of another database, and ${name}-wal and ${name}-shm still belong to that one`,
  );
}

function headerOf(file: string): Uint8Array {
  const header = new Uint8Array(headerBytes);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return header;
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, header, 0, headerBytes, 0);
  } finally {
    closeSync(descriptor);
  }
  return header;
}
