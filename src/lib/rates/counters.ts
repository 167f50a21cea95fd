/** Counts by name, up to a maximum. */
export type Counters = {
  /**
   * Counts one more; false, without counting, at the maximum or at `most`. Release each successful take exactly once.
   */
  take(name: string, most?: number): boolean;
  release(name: string): void;
  countOf(name: string): number;
  /** The total over all names. */
  readonly total: number;
};

/** Creates counters that keep only names with a count. */
export function createCounters(maximum = Number.POSITIVE_INFINITY): Counters {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    take(name, most = maximum) {
      const count = counts.get(name) ?? 0;
      if (count >= most) return false;
      counts.set(name, count + 1);
      total++;
      return true;
    },
    release(name) {
      const count = counts.get(name) ?? 0;
      if (count > 0) total--;
      if (count > 1) counts.set(name, count - 1);
      else counts.delete(name);
    },
    countOf: (name) => counts.get(name) ?? 0,
    get total() {
      return total;
    },
  };
}
