/** Counts values by size, in buckets whose bounds grow by a constant factor. Cheap enough for every delivery. */
export type Histogram = {
  /** Counts a value, that many times. What is below the lowest bound, or negative, goes into the first bucket. */
  observe(value: number, times?: number): void;
  /** How many values there were, and their sum. */
  readonly count: number;
  readonly sum: number;
  /** For each doubling of the lowest bound how many values were at most that large: what Prometheus calls `le`. */
  cumulative(): { upTo: number; count: number }[];
  /** The counts of all buckets, the last of them for what is above the highest bound. A copy. */
  counts(): number[];
  /** The value that this share of `counts` does not exceed, as exact as the buckets are; `undefined` without any. */
  quantile(share: number, counts: number[]): number | undefined;
};

type Options = {
  /** The upper bound of the first bucket. */
  lowest: number;
  /** How often the bound doubles. */
  doublings: number;
  /** Buckets for each doubling: 4 are good for 19 %. */
  perDoubling?: number;
};

/** For spans of time in milliseconds: from 0.1 ms to 13 s, fine enough to tell a median from them. */
export const spanBuckets: Options = { lowest: 0.1, doublings: 17, perDoubling: 4 };

/** An empty histogram. */
export function createHistogram({ lowest, doublings, perDoubling = 1 }: Options): Histogram {
  const last = doublings * perDoubling;
  const counts = new Array<number>(last + 2).fill(0);
  let count = 0;
  let sum = 0;
  const boundOf = (index: number) => lowest * 2 ** (index / perDoubling);

  return {
    observe(value, times = 1) {
      // The subtraction is for bounds that the logarithm misses by a rounding error.
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

/** What came into histograms lately. */
export type Recent = {
  /** Begins another span, and forgets the oldest. */
  turn(): void;
  /** The value that this share of what came in since does not exceed. */
  quantile(share: number): number | undefined;
};

/** Looks at the last `turns` spans of histograms that have the same buckets, and at the one that has begun, together. */
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
