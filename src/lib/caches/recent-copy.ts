import type { Clock } from "../time/clock.ts";

/**
 * Caches the result of `make` for `maxAgeMs` from the start of the call. Concurrent callers share a call in progress.
 * Rejections are not cached.
 */
export function createRecentCopy<Value>(
  make: () => Promise<Value>,
  { maxAgeMs, clock }: { maxAgeMs: number; clock: Clock },
): () => Promise<Value> {
  let copy: Promise<Value> | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isMaking = false;

  async function begin(): Promise<Value> {
    isMaking = true;
    begunAt = clock.now();
    try {
      return await make();
    } catch (error) {
      copy = undefined;
      throw error;
    } finally {
      isMaking = false;
    }
  }

  return () => {
    if (copy === undefined || (!isMaking && clock.now() - begunAt >= maxAgeMs)) copy = begin();
    return copy;
  };
}
