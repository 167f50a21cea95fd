import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";

const magic = new TextEncoder().encode("SQLite format 3\0");
// https://sqlite.org/fileformat2.html: 1 is a rollback journal, 2 a write-ahead log.
const journalAt = 18;
const rollback = 1;

/** How many bytes of a database file `isUnopenedCopy` needs. */
export const headerBytes = journalAt + 1;

/**
 * Whether this is the beginning of a backup that no server has opened: it says that it has no write-ahead log, until a
 * server gives it one. The file of a database that is in use never says so.
 */
export function isUnopenedCopy(header: Uint8Array): boolean {
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
