import { rowsOfStep } from "../../lib/queues/steps.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AttachmentPlace, FileBytes, FileUpkeep, UnwantedBytes } from "../../store/files/ports.ts";

type Options = {
  upkeep: FileUpkeep;
  /** Reports what it cannot remove. */
  bytes: Pick<FileBytes, "remove">;
  clock: Clock;
};

const rowsAtOnce = rowsOfStep / 2; // two rows each: a file, and its bytes
const uploadsMayTakeMs = 24 * 3600 * 1000;
const runsPerLook = 60;

/**
 * Creates the upkeep of files. Each run removes what nobody needs; every sixtieth one first looks at all attachments for those
 * whose messages are gone. It takes small steps, which take turns with other writes.
 */
export function createFileUpkeep({ upkeep, bytes, clock }: Options) {
  let runs = 0;
  let isStopped = false;
  let running: Promise<void> | undefined;

  async function releaseAll(): Promise<void> {
    let place: AttachmentPlace | undefined;
    do {
      place = await upkeep.release(place, { limit: rowsAtOnce, now: clock.now() });
    } while (place !== undefined && !isStopped);
  }

  async function removeAll(): Promise<void> {
    while (!isStopped && (await upkeep.expire(clock.now(), rowsAtOnce)) > 0);
    while (!isStopped) {
      const unwanted = await upkeep.unwanted(clock.now() - uploadsMayTakeMs, rowsAtOnce);
      if (unwanted.length === 0) return;
      const removed = await removeBytes(unwanted);
      await upkeep.forget(removed);
      if (removed.length < unwanted.length) return; // the next run tries again
    }
  }

  /** Removes bytes one by one until one cannot be removed, which the store of bytes reports. Returns the ids of those that are gone. */
  async function removeBytes(unwanted: readonly UnwantedBytes[]): Promise<string[]> {
    const removed: string[] = [];
    try {
      for (const { id } of unwanted) {
        await bytes.remove(id);
        removed.push(id);
      }
    } catch {
      // reported, and counted as unwanted until it is done
    }
    return removed;
  }

  async function runOnce(): Promise<void> {
    if (runs++ % runsPerLook === 0) await releaseAll();
    await removeAll();
  }

  return {
    /** Runs until nothing is left. Rejects like the store; what was done before stays done. */
    async run(): Promise<void> {
      if (running !== undefined || isStopped) return;
      running = runOnce();
      try {
        await running;
      } finally {
        running = undefined;
      }
    },
    /** Ends the run after its current step. */
    async stop(): Promise<void> {
      isStopped = true;
      await running?.catch(() => undefined); // reported by the run
    },
  };
}
