import type { Clock } from "../time/clock.ts";
import { amountOf } from "./amount.ts";

/** A steady pace of one caller. */
export type Pace = {
  /** Takes the next place, and returns how many milliseconds to wait for it. */
  take(): number;
};

/** How late places may be made up for: timers are a little late. Within a second, this adds 4 % to the rate at most. */
const madeUpForMs = 40;

/** Creates a pace of so many a second. What a caller does not use is lost, so that a pause is not followed by a burst. */
export function createPace({ perSecond, clock }: { perSecond: number; clock: Clock }): Pace {
  const stepMs = amountOf(1_000 / perSecond);
  let dueAt = clock.now();
  return {
    take() {
      const now = clock.now();
      dueAt = Math.max(dueAt, now - madeUpForMs);
      const waitMs = Math.max(0, dueAt - now);
      dueAt += stepMs;
      return waitMs;
    },
  };
}
