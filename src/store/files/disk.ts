import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import type { FileBytes } from "./ports.ts";

// A flush of the database may have to wait until all of a file that was written before it is on the disk (ext4), so it never
// is much.
const syncedBytes = 1024 * 1024;

/**
 * Stores the bytes of files below a folder. Each has a file named by the id of its bytes, which Herald made; names that callers
 * give are in no path.
 */
export function createDiskBytes(folder: string): FileBytes {
  // The end of an id is random, so that the folders fill evenly.
  const pathOf = (id: string) => join(folder, id.slice(-2), id);

  async function store(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const part = `${path}.part`;
    try {
      const file = await open(part, "w", 0o600);
      try {
        let unsynced = 0;
        for await (const piece of pieces) {
          await writeAll(file, piece);
          unsynced += piece.length;
          if (unsynced < syncedBytes) continue;
          await file.datasync();
          unsynced = 0;
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(part, path);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  return {
    async write(id, pieces) {
      try {
        const path = pathOf(id);
        const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        if (made !== undefined) await syncFolder(folder);
        await store(path, pieces);
      } catch (error) {
        throw translate(error);
      }
    },
    async read(id) {
      const file = Bun.file(pathOf(id));
      return (await file.exists()) ? { part: (start, end) => file.slice(start, end) } : undefined;
    },
    async remove(id) {
      await rm(pathOf(id), { force: true });
      await rm(`${pathOf(id)}.part`, { force: true }); // of a node that died
    },
  };
}

/** Writes all of a piece: a full disk may take only a part of it at first. */
async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let from = 0; from < piece.length; ) from += (await file.write(piece.subarray(from))).bytesWritten;
}

/** Makes a new name in a folder survive a power failure. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}

function translate(error: unknown): unknown {
  if (error instanceof HeraldError || !(error instanceof Error && "code" in error)) return error;
  if (error.code === "ENOSPC" || error.code === "EDQUOT")
    return new HeraldError("storage_full", undefined, { cause: error });
  return typeof error.code === "string" && /^E[A-Z]+$/.test(error.code) ? unavailable({ cause: error }) : error;
}
