import { expect, test } from "bun:test";
import { pauseAfter } from "./steps.ts";

test.each([
  [0, 20],
  [5, 20],
  [50, 150],
  [3_000, 9_000],
  [24_000, 10_000], // its node was frozen, or its database away
])("work pauses after a step of %d ms for %d ms", (stepMs, pauseMs) => {
  expect(pauseAfter(stepMs)).toBe(pauseMs);
});
