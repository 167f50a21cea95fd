import { rateLimited, retryAfterOf } from "../../contract/errors/errors.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createTokenBuckets, type Rate } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Counts refused keys and tokens by source: an IPv4 address or an IPv6 /64. */
export type Refusals = ReturnType<typeof createRefusals>;

/** Creates counters that allow each source `burst` refusals at once and `perSecond` after that. */
export function createRefusals({ clock, ...rate }: Rate & { clock: Clock }) {
  const buckets = createTokenBuckets({ clock });
  return {
    /** Throws `rate_limited` if the source has had too many refusals lately. */
    admit(address: string): void {
      const waitMs = buckets.waitMs(networkOf(address), rate);
      if (waitMs === 0) return;
      const retryAfterSeconds = retryAfterOf(waitMs);
      throw rateLimited({
        detail: `too many calls from this address had no valid key or token; use a valid one, or try again in ${retryAfterSeconds} s`,
        policy: "refusals",
        quota: rate.perSecond,
        windowSeconds: 1,
        retryAfterSeconds,
      });
    },
    /** Counts a refusal. */
    note: (address: string) => buckets.charge(networkOf(address), rate, 1),
  };
}
