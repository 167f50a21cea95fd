import { rateLimited } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { createTokenBuckets } from "../lib/token-bucket.ts";

/** Lets a caller's request pass or throws `rate_limited`. */
export type RateLimit = (keyId: string) => void;

/** A token bucket for each key. */
export function createRateLimit({
  perSecond,
  burst,
  clock,
}: {
  perSecond: number;
  burst: number;
  clock: Clock;
}): RateLimit {
  const buckets = createTokenBuckets({ perSecond, burst, clock });
  return (keyId) => {
    const { isAllowed, retryAfterMs } = buckets.take(keyId);
    if (isAllowed) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    throw rateLimited({
      detail: `this key may send ${perSecond} requests a second; wait ${retryAfterSeconds} s`,
      policy: "requests",
      quota: perSecond,
      windowSeconds: 1,
      retryAfterSeconds,
    });
  };
}
