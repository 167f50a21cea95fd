import type { Clock } from "../time/clock.ts";
import { amountOf } from "./amount.ts";

/** Spaces the steps of one caller evenly. */
export type Throttle = {
  /** Takes the next step; returns how many milliseconds to wait before it. */
  take(): number;
};

/** How much lateness is made up for, as timers fire a little late. Within a second, this adds at most 4 % to the rate. */
const madeUpForMs = 40;

/** Creates a throttle of `perSecond` steps. Unused steps are lost, so that a pause is not followed by a burst. */
export function createThrottle({ perSecond, clock }: { perSecond: number; clock: Clock }): Throttle {
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
