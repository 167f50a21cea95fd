/** Counts values in buckets whose bounds grow by a constant factor. Cheap enough to call for every delivery. */
export type Histogram = {
  /** Counts a value `times` times. Values below the lowest bound, even negative ones, go into the first bucket. */
  observe(value: number, times?: number): void;
  /** The number and the sum of all values. */
  readonly count: number;
  readonly sum: number;
  /** For each doubling of the lowest bound, the number of values up to it: Prometheus's `le` buckets. */
  cumulative(): { upTo: number; count: number }[];
  /** A copy of the counts of all buckets; the last one holds values above the highest bound. */
  counts(): number[];
  /**
   * The value that this share of `counts` does not exceed, as precise as the buckets; `undefined` if there are none.
   */
  quantile(share: number, counts: number[]): number | undefined;
};

type Options = {
  /** The upper bound of the first bucket. */
  lowest: number;
  /** How often the bound doubles. */
  doublings: number;
  /** Buckets per doubling: with 4, values are precise to 19 %. */
  perDoubling?: number;
};

/** For durations in milliseconds: from 0.1 ms to 13 s, fine enough for medians. */
export const spanBuckets: Options = { lowest: 0.1, doublings: 17, perDoubling: 4 };

/** Creates an empty histogram. */
export function createHistogram({ lowest, doublings, perDoubling = 1 }: Options): Histogram {
  const last = doublings * perDoubling;
  const counts = new Array<number>(last + 2).fill(0);
  let count = 0;
  let sum = 0;
  const boundOf = (index: number) => lowest * 2 ** (index / perDoubling);

  return {
    observe(value, times = 1) {
      // The subtraction corrects bounds that the logarithm misses by a rounding error.
      const index = value > lowest ? Math.ceil(Math.log2(value / lowest) * perDoubling - 1e-9) : 0;
      const bucket = Math.min(index, last + 1);
      counts[bucket] = (counts[bucket] ?? 0) + times;
      count += times;
      sum += value * times;
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    cumulative() {
      let total = 0;
      const cumulated = counts.map((one) => {
        total += one;
        return total;
      });
      return Array.from({ length: doublings + 1 }, (_, doubling) => ({
        upTo: boundOf(doubling * perDoubling),
        count: cumulated[doubling * perDoubling] ?? 0,
      }));
    },
    counts: () => [...counts],
    quantile(share, of) {
      const total = of.reduce((all, one) => all + one, 0);
      if (total === 0) return undefined;
      let rest = share * total;
      for (const [index, one] of of.entries()) {
        if (one === 0 || rest > one) {
          rest -= one;
          continue;
        }
        if (index > last) break;
        const from = index === 0 ? 0 : boundOf(index - 1);
        return from + (boundOf(index) - from) * (rest / one);
      }
      return boundOf(last);
    },
  };
}

/** The recent values of histograms. */
export type Recent = {
  /** Begins a new period and forgets the oldest. */
  turn(): void;
  /** The value that this share of the recent values does not exceed. */
  quantile(share: number): number | undefined;
};

/** Combines the last `turns` periods of histograms with equal buckets, including the current one. */
export function createRecent(histograms: [Histogram, ...Histogram[]], turns: number): Recent {
  const [first] = histograms;
  const add = (left: number[], right: number[]) => left.map((one, index) => one + (right[index] ?? 0));
  const now = () => histograms.map((histogram) => histogram.counts()).reduce(add);
  const before = [now()];
  return {
    turn() {
      before.push(now());
      if (before.length > turns) before.shift();
    },
    quantile(share) {
      const start = before[0] ?? [];
      return first.quantile(
        share,
        now().map((one, index) => one - (start[index] ?? 0)),
      );
    },
  };
}
