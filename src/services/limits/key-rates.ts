import { rateLimited, retryAfterOf } from "../../contract/errors/errors.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** How many requests a key may make, in units of what they cost. */
export type RateLimit = {
  /** Takes a request of this cost or throws `rate_limited`. */
  admit(keyId: string, cost: number): void;
  /** Adds to what a request cost. */
  charge(keyId: string, cost: number): void;
};

const bytesPerUnit = 65_536;

/** What bytes add to the cost of a request, which is 1 without them: 1 for each 64 KiB that is full, of its body and of its answer. */
export function costOfBytes(bytes: number): number {
  return Math.floor(bytes / bytesPerUnit);
}

/** A bucket for each key. */
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
      const retryAfterSeconds = retryAfterOf(waitMs);
      throw rateLimited({
        detail: `this key may send ${perSecond} requests a second; wait ${retryAfterSeconds} s`,
        policy: "requests",
        quota: perSecond,
        windowSeconds: 1,
        retryAfterSeconds,
      });
    },
    charge: (keyId, cost) => buckets.charge(keyId, rate, cost),
  };
}
