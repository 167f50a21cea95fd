import { expect, test } from "bun:test";
import { beginSlice, stepsPerLook } from "./slice.ts";

/** Takes steps until the slice is used up; returns how many, and for how many milliseconds. */
function useUp(steps: number): { taken: number; tookMs: number } {
  const begunAt = performance.now();
  const isOver = beginSlice();
  for (let taken = steps; ; taken += steps) if (isOver(steps)) return { taken, tookMs: performance.now() - begunAt };
}

test("a slice takes a millisecond, however long its steps are", () => {
  expect(useUp(1).tookMs).toBeGreaterThanOrEqual(1);
  const isOver = beginSlice();
  Bun.sleepSync(2);
  expect(isOver(stepsPerLook)).toBe(true);
});

test("a slice looks at the clock after a number of steps, taken one by one or several at a time", () => {
  expect(useUp(1).taken % stepsPerLook).toBe(0);
  const isOver = beginSlice();
  Bun.sleepSync(2);
  for (let step = 1; step < stepsPerLook; step++) expect(isOver()).toBe(false);
  expect(isOver()).toBe(true);
});
