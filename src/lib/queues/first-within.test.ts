import { expect, test } from "bun:test";
import { firstWithin } from "./first-within.ts";

test.each([
  [[], 10, []],
  [[3, 3, 3], 10, [3, 3, 3]],
  [[3, 3, 4], 10, [3, 3, 4]],
  [[3, 3, 5], 10, [3, 3]],
  [[11, 0], 10, [11]],
])("of %p, those that weigh at most %p together are the first %p", (items, most, first) => {
  expect(firstWithin<number>(items, (weight) => weight, most)).toEqual(first);
});
