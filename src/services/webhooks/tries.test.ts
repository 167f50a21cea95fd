import { expect, test } from "bun:test";
import { nextTryAt } from "./tries.ts";

const pausesOf = (random: number) => {
  const pauses: number[] = [];
  for (let tries = 1; ; tries++) {
    const at = nextTryAt(tries, 1_000_000, () => random);
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
