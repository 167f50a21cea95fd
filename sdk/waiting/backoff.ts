/** The waits between attempts. `next()` returns the next wait in milliseconds; `reset()` starts over with the shortest. */
export type Backoff = { next(): number; reset(): void };

/** The bounds of the waits in milliseconds, the part of its ceiling that each has at least, and the random source (0 ≤ n < 1). */
export type BackoffOptions = { minMs: number; maxMs: number; least?: number; random?: () => number };

/**
 * Exponential backoff with full jitter: each wait is a random time between 0 (or `least`) and a ceiling that doubles from `minMs` to `maxMs`.
 * Full jitter keeps many clients from reconnecting at the same moment after a restart.
 */
export function createBackoff({ minMs, maxMs, least = 0, random = Math.random }: BackoffOptions): Backoff {
  let ceilingMs = minMs;
  return {
    next() {
      const waitMs = (least + random() * (1 - least)) * Math.min(ceilingMs, maxMs);
      ceilingMs = Math.min(ceilingMs * 2, maxMs);
      return waitMs;
    },
    reset() {
      ceilingMs = minMs;
    },
  };
}
