/** The waits between attempts. `next()` returns the next wait in milliseconds; `reset()` starts over with the shortest. */
export type Backoff = { next(): number; reset(): void };

/** The bounds of the waits in milliseconds, and the random source (0 ≤ n < 1). */
export type BackoffOptions = { minMs: number; maxMs: number; random?: () => number };

/**
 * Exponential backoff with full jitter: each wait is a random time between 0 and a ceiling that doubles from `minMs` to `maxMs`.
 * Full jitter keeps many clients from reconnecting at the same moment after a restart.
 */
export function createBackoff({ minMs, maxMs, random = Math.random }: BackoffOptions): Backoff {
  let ceilingMs = minMs;
  return {
    next() {
      const waitMs = random() * Math.min(ceilingMs, maxMs);
      ceilingMs = Math.min(ceilingMs * 2, maxMs);
      return waitMs;
    },
    reset() {
      ceilingMs = minMs;
    },
  };
}
