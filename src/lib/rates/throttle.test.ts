import { expect, test } from "bun:test";
import { createThrottle } from "./throttle.ts";

/** Takes steps for `seconds`, waiting `lateMs` too long before each. Returns when each was taken. */
function takeFor(seconds: number, perSecond: number, lateMs: number): number[] {
  const time = { now: 5_000 };
  const throttle = createThrottle({ perSecond, clock: { now: () => time.now } });
  const taken: number[] = [];
  while (time.now < 5_000 + seconds * 1_000) {
    const waitMs = throttle.take();
    time.now += waitMs >= 1 ? waitMs + lateMs : 0.01; // some work
    taken.push(time.now);
  }
  return taken;
}

test.each([
  [1, 0],
  [500, 0],
  [500, 3],
  [20_000, 2],
])("a rate of %d a second is kept within 5 %%, though timers are %d ms late", (perSecond, lateMs) => {
  const taken = takeFor(20, perSecond, lateMs);
  const span = ((taken.at(-1) ?? 0) - (taken[0] ?? 0)) / 1_000;
  expect((taken.length - 1) / span / perSecond).toBeWithin(0.95, 1.05);
});

test("a pause is not followed by a burst", () => {
  const time = { now: 0 };
  const throttle = createThrottle({ perSecond: 100, clock: { now: () => time.now } });
  expect(throttle.take()).toBe(0);
  time.now = 60_000;
  let atOnce = 0;
  while (throttle.take() === 0) atOnce++;
  expect(atOnce).toBe(5); // the next, and what 40 ms make up for
});
