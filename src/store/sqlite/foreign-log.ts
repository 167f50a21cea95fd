import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { headerBytes, isUnopenedCopy } from "./file-header.ts";

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
