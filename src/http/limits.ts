import { HeraldError } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { createTokenBuckets } from "../lib/token-bucket.ts";

/** Lets a caller's request pass or throws `rate_limited`. */
export type RateLimit = (keyId: string) => void;

/** A token bucket for each key. Its headers follow draft-ietf-httpapi-ratelimit-headers. */
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
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    throw new HeraldError("rate_limited", `this key may send ${perSecond} requests a second; wait ${seconds} s`, {
      headers: {
        "Retry-After": String(seconds),
        RateLimit: `"requests";r=0;t=${seconds}`,
        "RateLimit-Policy": `"requests";q=${perSecond};w=1`,
      },
    });
  };
}
