import { statfs } from "node:fs/promises";
import { HeraldError } from "../../contract/errors/errors.ts";
import { followValue } from "../../lib/observing/gauge.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Database, DatabaseSizes } from "../../store/store.ts";

/** The room on a disk. `freeBytes` is what Herald's user may still write. */
export type DiskSpace = { freeBytes: number; sizeBytes: number };

/** Figures that take a moment to read, so they are read in the background. What cannot be read is `undefined`. */
export type Gauges = { database: DatabaseSizes | undefined; disk: DiskSpace | undefined };

type Dependencies = {
  database: Pick<Database, "sizes">;
  /** A folder on the disk to watch. */
  folder: string;
  /** A clock that never goes back. */
  clock: Clock;
  onError(error: unknown): void;
};

/** Starts reading the figures, every 5 s or less often. */
export function startGauges({ database, folder, clock, onError }: Dependencies) {
  const options = {
    clock,
    onError(error: unknown) {
      if (!(error instanceof HeraldError)) onError(error); // an outage is logged elsewhere
    },
  };
  const sizes = followValue(database.sizes, options);
  const disk = followValue(() => readDisk(folder), options);

  return {
    /** The latest figures. */
    current: (): Gauges => ({ database: sizes.current()?.value, disk: disk.current()?.value }),
    stop(): void {
      sizes.stop();
      disk.stop();
    },
  };
}

async function readDisk(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}
