import { statfs } from "node:fs/promises";
import { type Config, keepOf } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { followValue, type Reading } from "../../lib/observing/gauge.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { readOverdue } from "../../services/retention.ts";
import type { Overdue, RetentionReads } from "../../store/retention/ports.ts";
import type { Database, DatabaseSizes } from "../../store/store.ts";

/** The room on a disk. `freeBytes` is what Herald's user may still write. */
export type DiskSpace = { freeBytes: number; sizeBytes: number };

/** Figures that take a moment to read, so they are read in the background. What cannot be read is `undefined`. */
export type Gauges = {
  database: DatabaseSizes | undefined;
  disk: DiskSpace | undefined;
  /** How long the oldest job of each kind has been waiting, in milliseconds; 0 if none is. */
  jobs: Overdue | undefined;
};

type Dependencies = {
  config: Config;
  database: Pick<Database, "sizes">;
  store: { retention: RetentionReads };
  /** A clock that never goes back. */
  clock: Clock;
  onError(error: unknown): void;
};

/** Starts reading the figures, every 5 s or less often. */
export function startGauges({ config, database, store, clock, onError }: Dependencies) {
  const options = {
    clock,
    onError(error: unknown) {
      if (!(error instanceof HeraldError)) onError(error); // an outage is logged elsewhere
    },
  };
  const sizes = followValue(database.sizes, options);
  const disk = followValue(() => readDisk(config.HERALD_DATA_DIR), options);
  const keep = keepOf(config);
  const jobs = followValue(() => readOverdue(store.retention, keep), options);

  return {
    /** The latest figures. */
    current: (): Gauges => ({
      database: sizes.current()?.value,
      disk: disk.current()?.value,
      jobs: agedBy(jobs.current()),
    }),
    stop(): void {
      for (const each of [sizes, disk, jobs]) each.stop();
    },
  };
}

async function readDisk(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

/** What was waiting when it was read has been waiting for longer since. */
function agedBy(read: Reading<Overdue> | undefined): Overdue | undefined {
  if (read === undefined) return undefined;
  const { deleted, messages, ids, audit } = read.value;
  const aged = (waitMs: number) => (waitMs === 0 ? 0 : waitMs + read.ageMs);
  return { deleted: aged(deleted), messages: aged(messages), ids: aged(ids), audit: aged(audit) };
}
