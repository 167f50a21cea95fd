import { rateLimited, retryAfterOf } from "../../contract/errors/errors.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Counts the callers whose key or token was refused, by where they come from: an IPv4 address, or a /64 of IPv6. */
export type Refusals = {
  /** Throws `rate_limited` when so many were refused of late that the next one is not looked at. */
  admit(address: string): void;
  /** Whether another may be refused: what `admit` asks. */
  hasRoom(address: string): boolean;
  /** Counts one that was refused. */
  note(address: string): void;
};

/** At most `burst` refusals at once and `perSecond` after that, for each source. */
export function createRefusals({ clock, ...rate }: { perSecond: number; burst: number; clock: Clock }): Refusals {
  const buckets = createTokenBuckets({ clock });
  return {
    admit(address) {
      const waitMs = buckets.waitMs(networkOf(address), rate);
      if (waitMs === 0) return;
      const retryAfterSeconds = retryAfterOf(waitMs);
      throw rateLimited({
        detail: `too many calls from this address had no valid key or token; mend that first, then wait ${retryAfterSeconds} s`,
        policy: "refusals",
        quota: rate.perSecond,
        windowSeconds: 1,
        retryAfterSeconds,
      });
    },
    hasRoom: (address) => buckets.waitMs(networkOf(address), rate) === 0,
    note: (address) => buckets.charge(networkOf(address), rate, 1),
  };
}
