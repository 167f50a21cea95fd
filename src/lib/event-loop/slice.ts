import { threadSliceUs } from "./thread-scheduler.ts";

/** How many small steps follow one another between two looks at the clock, which takes as long as a small step. */
export const stepsPerLook = 250;

/**
 * Begins a slice of about a millisecond of work in small steps. The function that it returns counts further steps, and tells
 * whether the slice is used up: then the work waits for its next turn, and begins another one.
 */
export function beginSlice(): (steps?: number) => boolean {
  const endsAt = performance.now() + threadSliceUs / 1_000;
  let untilLook = stepsPerLook;
  return (steps = 1) => {
    untilLook -= steps;
    if (untilLook > 0) return false;
    untilLook = stepsPerLook;
    return performance.now() >= endsAt;
  };
}
