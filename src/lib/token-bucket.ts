import type { Clock } from "./clock.ts";

/** What a bucket says of one request. `remaining` is whole tokens; `retryAfterMs` is 0 when the request may pass. */
export type BucketAnswer = { isAllowed: boolean; remaining: number; retryAfterMs: number };

/** A token bucket for each name: it holds `burst` tokens and gains `perSecond` of them a second. */
export type TokenBuckets = { take(name: string): BucketAnswer };

type Bucket = { tokens: number; at: number };

/** Buckets are made when first asked for. There are `maxBuckets` at most: the one that rested longest is forgotten first. */
export function createTokenBuckets(options: {
  perSecond: number;
  burst: number;
  clock: Clock;
  maxBuckets?: number;
}): TokenBuckets {
  const { perSecond, clock, maxBuckets = 10_000 } = options;
  const burst = Math.max(1, options.burst);
  const buckets = new Map<string, Bucket>();

  function forgetFirst(): void {
    const [first] = buckets.keys();
    if (first !== undefined) buckets.delete(first);
  }

  return {
    take(name) {
      if (perSecond === Number.POSITIVE_INFINITY || burst === Number.POSITIVE_INFINITY) {
        return { isAllowed: true, remaining: Number.POSITIVE_INFINITY, retryAfterMs: 0 };
      }
      const now = clock.now();
      const bucket = buckets.get(name) ?? { tokens: burst, at: now };
      buckets.delete(name); // so that the map is in the order of use
      buckets.set(name, bucket);
      if (buckets.size > maxBuckets) forgetFirst();
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      if (bucket.tokens < 1) {
        return { isAllowed: false, remaining: 0, retryAfterMs: Math.ceil(((1 - bucket.tokens) / perSecond) * 1000) };
      }
      bucket.tokens--;
      return { isAllowed: true, remaining: Math.floor(bucket.tokens), retryAfterMs: 0 };
    },
  };
}
