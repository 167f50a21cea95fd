import { expect, test } from "bun:test";
import { nextTryAt } from "./tries.ts";

const pausesOf = (random: number) => {
  const pauses: number[] = [];
  for (let tries = 1; ; tries++) {
    const at = nextTryAt(tries, 1_000_000, { random: () => random });
    if (at === undefined) return pauses.map((pause) => pause / 1_000);
    pauses.push(at - 1_000_000);
  }
};

test("there are ten tries: at once, then after 5 s, 5 min, 30 min and 2, 5, 10, 14, 20 and 24 h", () => {
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * 3_600);
  expect(pausesOf(0)).toEqual([5, 300, 1_800, ...hours]);
});

test("a try is made up to a tenth later, at random", () => {
  expect(pausesOf(0.999_999)).toEqual(pausesOf(0).map((pause) => expect.closeTo(pause * 1.1, 0)));
});

test("a receiver that asks for more time gets it, up to the next step, and never less than the step", () => {
  const secondsAfter = (tries: number, seconds: number) =>
    (nextTryAt(tries, 0, { random: () => 0, retryAfterMs: seconds * 1_000 }) ?? Number.NaN) / 1_000;
  const day = 86_400;
  expect([1, 5, 120, 300, day].map((seconds) => secondsAfter(1, seconds))).toEqual([5, 5, 120, 300, 300]);
  expect([60, 10 * day].map((seconds) => secondsAfter(9, seconds))).toEqual([day, day]); // the last step
  expect(nextTryAt(10, 0, { random: () => 0, retryAfterMs: 1_000 })).toBeUndefined();
});
