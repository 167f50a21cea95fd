import type { Clock } from "./clock.ts";

/** Creates a clock that shows the time of the database's: this machine's, until the two are compared. */
export function createDatabaseClock(clock: Clock) {
  let aheadMs = 0;
  return {
    now: () => clock.now() - aheadMs,
    /** Notes by how many milliseconds this machine's clock is ahead of the database's. */
    compare({ offsetMs }: { offsetMs: number }): void {
      aheadMs = offsetMs;
    },
  };
}
