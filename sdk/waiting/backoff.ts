/** The waits between attempts. `next()` gives the next wait in milliseconds; `reset()` starts again from the shortest. */
export type Backoff = { next(): number; reset(): void };

/** Bounds of the waits in milliseconds, and the source of chance (0 ≤ n < 1). */
export type BackoffOptions = { minMs: number; maxMs: number; random?: () => number };

/**
 * Exponential backoff with full jitter: each wait is anywhere between 0 and a ceiling that doubles from `minMs` to
 * `maxMs`. Full jitter keeps a crowd of clients from coming back at the same moment after a restart.
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
