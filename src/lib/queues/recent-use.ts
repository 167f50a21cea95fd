/** A number of items and their total weight. */
export type Amount = { items: number; weight: number };

/** Counts what names used lately. */
export type RecentUse = {
  note(name: string, weight: number): void;
  /** What was noted under the name in the last `forMs`, and at most twice as long ago. */
  of(name: string): Amount;
};

/** Creates a count that forgets. `now` is in milliseconds and never goes back. */
export function createRecentUse(forMs: number, now = () => performance.now()): RecentUse {
  let current = new Map<string, Amount>();
  let before = new Map<string, Amount>();
  let endsAt = now() + forMs;

  function turn(): void {
    const late = now() - endsAt;
    if (late < 0) return;
    before = late < forMs ? current : new Map();
    current = new Map();
    endsAt = now() + forMs;
  }

  return {
    note(name, weight) {
      turn();
      const used = current.get(name);
      if (used === undefined) {
        current.set(name, { items: 1, weight });
      } else {
        used.items++;
        used.weight += weight;
      }
    },
    of(name) {
      turn();
      const [some, more] = [current.get(name), before.get(name)];
      return {
        items: (some?.items ?? 0) + (more?.items ?? 0),
        weight: (some?.weight ?? 0) + (more?.weight ?? 0),
      };
    },
  };
}
