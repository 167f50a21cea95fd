import { rateLimited } from "../contract/errors.ts";
import { networkOf } from "../lib/addresses.ts";
import type { Clock } from "../lib/clock.ts";
import { createTokenBuckets } from "../lib/token-bucket.ts";

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
export function createRefusals(options: { perSecond: number; burst: number; clock: Clock }): Refusals {
  const buckets = createTokenBuckets(options);
  return {
    admit(address) {
      const { isAllowed, retryAfterMs } = buckets.peek(networkOf(address));
      if (isAllowed) return;
      const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
      throw rateLimited({
        detail: `too many calls from this address had no valid key or token; mend that first, then wait ${retryAfterSeconds} s`,
        policy: "refusals",
        quota: options.perSecond,
        windowSeconds: 1,
        retryAfterSeconds,
      });
    },
    hasRoom: (address) => buckets.peek(networkOf(address)).isAllowed,
    note: (address) => void buckets.take(networkOf(address)),
  };
}
