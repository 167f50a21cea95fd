import { describe, expect, test } from "bun:test";
import { createHistogram, createRecent } from "./histogram.ts";

describe("a histogram", () => {
  test("counts a value in the bucket whose bound it does not exceed, bounds included", () => {
    const histogram = createHistogram({ lowest: 1, doublings: 3 });
    for (const value of [-1, 0, 1, 1.01, 2, 4, 7, 8, 9, 1e9]) histogram.observe(value);
    expect(histogram.counts()).toEqual([3, 2, 1, 2, 2]);
    expect(histogram.cumulative()).toEqual([
      { upTo: 1, count: 3 },
      { upTo: 2, count: 5 },
      { upTo: 4, count: 6 },
      { upTo: 8, count: 8 },
    ]);
    expect(histogram.count).toBe(10);
  });

  test("assigns every bound of finer buckets correctly, and reports doublings only", () => {
    const histogram = createHistogram({ lowest: 0.1, doublings: 17, perDoubling: 4 });
    const bounds = Array.from({ length: 69 }, (_, index) => 0.1 * 2 ** (index / 4));
    for (const bound of bounds) histogram.observe(bound);
    expect(histogram.counts()).toEqual([...bounds.map(() => 1), 0]);
    expect(histogram.cumulative()).toHaveLength(18);
    expect(histogram.cumulative().at(-1)).toEqual({ upTo: 0.1 * 2 ** 17, count: 69 });
  });

  test("counts a value several times at once", () => {
    const histogram = createHistogram({ lowest: 1, doublings: 2 });
    histogram.observe(3, 1000);
    histogram.observe(3, 0);
    expect([histogram.count, histogram.sum]).toEqual([1000, 3000]);
  });

  test("knows quantiles as precisely as its buckets, and none without values", () => {
    const histogram = createHistogram({ lowest: 0.1, doublings: 17, perDoubling: 4 });
    expect(histogram.quantile(0.5, histogram.counts())).toBeUndefined();
    for (let ms = 1; ms <= 1000; ms++) histogram.observe(ms);
    for (const share of [0.01, 0.5, 0.99]) {
      const quantile = histogram.quantile(share, histogram.counts()) ?? 0;
      expect(Math.abs(quantile / (share * 1000) - 1)).toBeLessThan(0.1);
    }
    for (let more = 0; more < 1000; more++) histogram.observe(1e9);
    expect(histogram.quantile(0.99, histogram.counts())).toBeCloseTo(0.1 * 2 ** 17);
  });
});

test("recent values are those of the last turns, of all histograms together", () => {
  const one = createHistogram({ lowest: 1, doublings: 10 });
  const two = createHistogram({ lowest: 1, doublings: 10 });
  one.observe(1000);
  const recent = createRecent([one, two], 3);
  expect(recent.quantile(1)).toBeUndefined();
  one.observe(500);
  for (let turn = 0; turn < 2; turn++) {
    recent.turn();
    two.observe(2);
    expect(recent.quantile(1)).toBe(512);
  }
  recent.turn();
  expect(recent.quantile(1)).toBe(2);
  for (let turn = 0; turn < 3; turn++) recent.turn();
  expect(recent.quantile(1)).toBeUndefined();
});
