/** Counts by name, up to a maximum. */
export type Counters = {
  /** Counts one more; false, and nothing counted, at the maximum. Give it back with `release`, once. */
  take(name: string): boolean;
  release(name: string): void;
};

/** Counters that hold only names with a count. */
export function createCounters(maximum: number): Counters {
  const counts = new Map<string, number>();
  return {
    take(name) {
      const count = counts.get(name) ?? 0;
      if (count >= maximum) return false;
      counts.set(name, count + 1);
      return true;
    },
    release(name) {
      const count = counts.get(name) ?? 0;
      if (count > 1) counts.set(name, count - 1);
      else counts.delete(name);
    },
  };
}
