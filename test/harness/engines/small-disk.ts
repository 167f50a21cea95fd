import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const chunk = new Uint8Array(64 * 1024).fill(1);

/**
 * A command that runs another with a small file system mounted on a folder, with the same owner. The mount is visible
 * only to that process and its children, in a mount namespace that ends with them, so nothing has to be unmounted.
 * Needs root.
 */
export function withSmallDisk(folder: string, megabytes: number, command: string[] = []): string[] {
  const owner = 'uid=$(stat -c %u "$0"),gid=$(stat -c %g "$0"),mode=0700';
  const mount = `mount -t tmpfs -o size=${megabytes}m,${owner} none "$0" && exec "$@"`;
  return ["unshare", "--mount", "sh", "-c", mount, folder, ...command];
}

/** The folder as the process sees it. */
export function insideOf(pid: number, folder: string): string {
  return join(`/proc/${pid}/root`, folder);
}

/** Writes a file until the disk is full; returns the function that removes it. */
export function fillDisk(folder: string): () => void {
  const ballast = join(folder, "ballast");
  const file = openSync(ballast, "w");
  try {
    for (let size = chunk.length; size >= 1; ) {
      try {
        writeSync(file, chunk, 0, size);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
        size = Math.floor(size / 2); // to fill the last bytes, too
      }
    }
  } finally {
    closeSync(file);
  }
  return () => rmSync(ballast);
}
