import { forgetOldest } from "../caches/forget-oldest.ts";
import type { Clock } from "../time/clock.ts";
import { amountOf } from "./amount.ts";

/** How fast a bucket fills, in units per second, and how many it holds. If either is `Infinity`, it never runs dry. */
export type Rate = { perSecond: number; burst: number };

/**
 * A bucket of units per name. A caller with at least one unit may proceed and pays afterwards, as a request's cost is
 * known only when it is answered. A caller in debt waits until the debt is paid and one unit is available.
 */
export type TokenBuckets = {
  /** How many milliseconds `name` has to wait; 0 if it may proceed. */
  waitMs(name: string, rate: Rate): number;
  /** Takes `cost` units; a negative cost refunds them. */
  charge(name: string, rate: Rate, cost: number): void;
};

type Bucket = { units: number; at: number };

const mostBuckets = 10_000;

/** Creates buckets on first charge, at most 10,000; the least recently charged is forgotten first. */
export function createTokenBuckets({ clock }: { clock: Clock }): TokenBuckets {
  const buckets = new Map<string, Bucket>();

  function refill(bucket: Bucket, { perSecond, burst }: Rate): void {
    const now = clock.now();
    bucket.units = Math.min(Math.max(1, burst), bucket.units + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
  }

  return {
    waitMs(name, rate) {
      if (isLifted(rate)) return 0;
      const bucket = buckets.get(name);
      if (bucket === undefined) return 0;
      refill(bucket, rate);
      return bucket.units >= 1 ? 0 : Math.ceil(((1 - bucket.units) / rate.perSecond) * 1000);
    },
    charge(name, rate, cost) {
      const units = amountOf(cost);
      if (isLifted(rate)) return;
      const known = buckets.get(name);
      const bucket = known ?? { units: Math.max(1, rate.burst), at: clock.now() };
      buckets.delete(name); // keeps the map in order of use
      buckets.set(name, bucket);
      if (known === undefined) forgetOldest(buckets, mostBuckets);
      refill(bucket, rate);
      bucket.units = Math.min(Math.max(1, rate.burst), bucket.units - units);
    },
  };
}

function isLifted({ perSecond, burst }: Rate): boolean {
  return perSecond === Number.POSITIVE_INFINITY || burst === Number.POSITIVE_INFINITY;
}
