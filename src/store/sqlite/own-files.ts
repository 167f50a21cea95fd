import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { type HeraldError, unavailable } from "../../contract/errors/errors.ts";

/** The files of an open database were removed or replaced: what is written to it is gone when the process ends. */
class FilesReplacedError extends Error {
  override readonly name = "FilesReplacedError";
}

/** Notices that the files of an open database are no longer those at their paths. */
export type OwnFiles = {
  /** Throws `unavailable` if they are not. Takes a few microseconds. */
  require(): void;
  /** Like `require`, without blocking. */
  check(): Promise<void>;
};

/** Takes note of the files of a database that is open in WAL mode. */
export function createOwnFiles(file: string): OwnFiles {
  const paths = [file, `${file}-wal`];
  const own = paths.map((path) => identityOf(statSync(path, { throwIfNoEntry: false })));

  function compare(found: readonly string[]): void {
    const index = found.findIndex((identity, position) => identity !== own[position]);
    if (index !== -1) throw replaced(paths[index] ?? file, found[index] === nothing);
  }

  return {
    require: () => compare(paths.map((path) => identityOf(statSync(path, { throwIfNoEntry: false })))),
    check: async () => compare(await Promise.all(paths.map(async (path) => identityOf(await statOf(path))))),
  };
}

const nothing = "";

/** The device and the inode, which stay while a file is open. */
function identityOf(stats: Stats | undefined): string {
  return stats === undefined ? nothing : `${stats.dev}:${stats.ino}`;
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}

function replaced(path: string, isRemoved: boolean): HeraldError {
  const message = `${path} was ${isRemoved ? "removed" : "replaced"} while this node has it open`;
  return unavailable({ cause: new FilesReplacedError(message) });
}
