import { rateExceeded } from "../../contract/errors/errors.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Limits the requests of each key, in units of cost. */
export type RateLimit = {
  /** Charges a request of this cost or throws `rate_limited`. */
  admit(keyId: string, cost: number): void;
  /** Adds to the cost of a request. */
  charge(keyId: string, cost: number): void;
};

/** Creates a rate limit with one bucket per key. */
export function createRateLimit(options: { perSecond: number; burst: number; clock: Clock }): RateLimit {
  const { perSecond, burst, clock } = options;
  const rate = { perSecond, burst };
  const buckets = createTokenBuckets({ clock });
  return {
    admit(keyId, cost) {
      const waitMs = buckets.waitMs(keyId, rate);
      if (waitMs === 0) {
        buckets.charge(keyId, rate, cost);
        return;
      }
      const detail = `this key may send ${perSecond} requests per second`;
      throw rateExceeded({ detail, policy: "requests", quota: perSecond, windowSeconds: 1, waitMs });
    },
    charge: (keyId, cost) => buckets.charge(keyId, rate, cost),
  };
}
