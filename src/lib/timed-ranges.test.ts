import { expect, test } from "bun:test";
import { createRandom } from "../../test/harness/random.ts";
import { compacted, type TimedRange, timeOf, withRange } from "./timed-ranges.ts";

const highest = 60;

test("ranges keep the first time of each number, in order and without overlaps, like a plain map", () => {
  const random = createRandom();
  for (let world = 0; world < 300; world++) {
    const model = new Map<number, number>();
    let ranges: TimedRange[] = [];
    for (let at = 1; at <= 30; at++) {
      const first = random.integer(1, highest);
      const last = Math.min(highest, first + random.integer(0, 12));
      for (let number = first; number <= last; number++) if (!model.has(number)) model.set(number, at);
      ranges = withRange(ranges, first, last, at);
      for (let number = 0; number <= highest + 1; number++)
        if (timeOf(ranges, number) !== model.get(number)) throw new Error(`seed ${random.seed}: ${number} at ${at}`);
      for (const [index, range] of ranges.entries()) expect(range[0]).toBeGreaterThan(ranges[index - 1]?.[1] ?? 0);
    }
  }
});

test("a range does not change the ranges that it is added to", () => {
  const before: TimedRange[] = [[1, 3, 9]];
  withRange(before, 4, 5, 9);
  expect(before).toEqual([[1, 3, 9]]);
});

test("of many ranges that touch, all but the last 1,000 are joined, and gaps stay", () => {
  const touching = Array.from({ length: 1_500 }, (_, index): TimedRange => [2 * index + 1, 2 * index + 2, index]);
  const joined = compacted(touching);
  expect(joined.length).toBe(1_001);
  expect(joined[0]).toEqual([1, 1_000, 499]);
  const apart = Array.from({ length: 1_500 }, (_, index): TimedRange => [3 * index + 1, 3 * index + 2, index]);
  expect(compacted(apart)).toEqual(apart);
});
