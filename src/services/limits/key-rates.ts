import { rateExceeded } from "../../contract/errors/errors.ts";
import { createTokenBuckets, type Rate } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Limits the requests of each key, in units of cost. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** Creates a rate limit with one bucket per key. */
export function createRateLimit({ clock, ...rate }: Rate & { clock: Clock }) {
  const { perSecond } = rate;
  const buckets = createTokenBuckets({ clock });
  return {
    /** Charges a request of this cost or throws `rate_limited`. */
    admit(keyId: string, cost: number): void {
      const waitMs = buckets.waitMs(keyId, rate);
      if (waitMs > 0) {
        const detail = `this key may send ${perSecond} requests per second`;
        throw rateExceeded({ detail, policy: "requests", quota: perSecond, windowSeconds: 1, waitMs });
      }
      buckets.charge(keyId, rate, cost);
    },
    /** Adds to the cost of a request. */
    charge: (keyId: string, cost: number) => buckets.charge(keyId, rate, cost),
  };
}
