import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const prefix = "unfinished-backup-";
const named = /^unfinished-backup-(\d+)-(.*)-[^-]{6}$/;
const lostAfterMs = 24 * 3600 * 1000;

/** Creates a folder in the data folder for one backup by this process. Its owner removes it. */
export function createBackupFolder(dataFolder: string): string {
  return mkdtempSync(join(dataFolder, `${prefix}${process.pid}-${thisHost()}-`));
}

/**
 * Removes such folders of processes that have ended without doing so, as they hold secrets. One of another host, such
 * as another container, counts as left after a day. One that this user may not remove stays for its owner.
 */
export function removeUnfinishedBackups(dataFolder: string, now: number): void {
  for (const name of readdirSync(dataFolder)) {
    const [, pid, host] = named.exec(name) ?? [];
    const path = join(dataFolder, name);
    if (pid === undefined || !isLeft(path, { pid: Number(pid), host, now })) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
  }
}

function isLeft(path: string, { pid, host, now }: { pid: number; host: string | undefined; now: number }): boolean {
  if (host === thisHost()) return !isAlive(pid);
  const { mtimeMs = now } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return now - mtimeMs > lostAfterMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isForbidden(error); // it runs as another user
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EPERM" || error.code === "EACCES");
}

function thisHost(): string {
  return hostname().replaceAll(/[^\w.]/g, "_");
}
