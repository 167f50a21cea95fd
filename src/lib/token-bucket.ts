import type { Clock } from "./clock.ts";

/** What a bucket says of one request. `remaining` is whole tokens; `retryAfterMs` is 0 when the request may pass. */
export type BucketAnswer = { isAllowed: boolean; remaining: number; retryAfterMs: number };

/** A token bucket for each name: it holds `burst` tokens and gains `perSecond` of them a second. */
export type TokenBuckets = {
  /** Takes a token if there is one. */
  take(name: string): BucketAnswer;
  /** What `take` would say, taking nothing. */
  peek(name: string): BucketAnswer;
};

type Bucket = { tokens: number; at: number };

const unlimited: BucketAnswer = { isAllowed: true, remaining: Number.POSITIVE_INFINITY, retryAfterMs: 0 };

/** Buckets are made when first taken from. There are `maxBuckets` at most: the one that rested longest is forgotten first. */
export function createTokenBuckets(options: {
  perSecond: number;
  burst: number;
  clock: Clock;
  maxBuckets?: number;
}): TokenBuckets {
  const { perSecond, clock, maxBuckets = 10_000 } = options;
  const burst = Math.max(1, options.burst);
  const isLifted = perSecond === Number.POSITIVE_INFINITY || burst === Number.POSITIVE_INFINITY;
  const buckets = new Map<string, Bucket>();

  function forgetFirst(): void {
    const [first] = buckets.keys();
    if (first !== undefined) buckets.delete(first);
  }

  function refill(bucket: Bucket): void {
    const now = clock.now();
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
  }

  function answer(tokens: number, taken: number): BucketAnswer {
    if (tokens >= 1) return { isAllowed: true, remaining: Math.floor(tokens - taken), retryAfterMs: 0 };
    return { isAllowed: false, remaining: 0, retryAfterMs: Math.ceil(((1 - tokens) / perSecond) * 1000) };
  }

  return {
    take(name) {
      if (isLifted) return unlimited;
      const bucket = buckets.get(name) ?? { tokens: burst, at: clock.now() };
      buckets.delete(name); // so that the map is in the order of use
      buckets.set(name, bucket);
      if (buckets.size > maxBuckets) forgetFirst();
      refill(bucket);
      const { tokens } = bucket;
      if (tokens >= 1) bucket.tokens--;
      return answer(tokens, 1);
    },
    peek(name) {
      const bucket = buckets.get(name);
      if (isLifted || bucket === undefined) return isLifted ? unlimited : answer(burst, 0);
      refill(bucket);
      return answer(bucket.tokens, 0);
    },
  };
}
