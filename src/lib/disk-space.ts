import { statfs } from "node:fs/promises";

/** The room on a disk. `freeBytes` is what this process's user may still write. */
export type DiskSpace = { freeBytes: number; sizeBytes: number };

/** Reads the room on the disk that holds a folder. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}
