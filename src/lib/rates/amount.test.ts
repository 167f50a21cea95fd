import { expect, test } from "bun:test";
import { createThreadScheduler } from "../event-loop/thread-scheduler.ts";
import { createFairQueue } from "../queues/fair-queue.ts";
import { createLimiter } from "../queues/limiter.ts";
import { steadyClock } from "../time/clock.ts";
import { createMeters } from "./amount.ts";
import { createThrottle } from "./throttle.ts";
import { createTokenBuckets } from "./token-buckets.ts";
import { createWindowQuotas } from "./window-quota.ts";

const clock = { now: () => 0 };
const rate = { perSecond: 10, burst: 20 };
const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

test.each(notFinite)("an amount of %p is counted nowhere, and changes no limit", async (amount) => {
  const buckets = createTokenBuckets({ clock });
  for (let count = 0; count < 20; count++) buckets.charge("a", rate, 1);
  expect(() => buckets.charge("a", rate, amount)).toThrow(RangeError);
  expect(buckets.waitMs("a", rate)).toBe(100);

  const time = { now: 0 };
  const meters = createMeters({ clock: { now: () => time.now } });
  meters.note("a", 3);
  expect(() => meters.note("a", amount)).toThrow(RangeError);
  time.now += 1_000;
  expect(meters.of("a")).toBe(3);

  const quotas = createWindowQuotas({ quota: 10, windowMs: 1_000, clock });
  quotas.use("a", 10);
  expect(() => quotas.use("a", amount)).toThrow(RangeError);
  expect(() => quotas.use("b", amount)).toThrow(RangeError);
  expect(quotas.waitMs("a")).toBe(1_000);
  expect(quotas.size).toBe(1);

  expect(() => createThrottle({ perSecond: 1_000 / amount, clock })).toThrow(RangeError);
});

test.each(notFinite)("a weight of %p waits in no queue, and gets no turn", async (weight) => {
  const queue = createFairQueue<string>({ maxWeight: 10 });
  expect(() => queue.add("a", "x", { weight })).toThrow(RangeError);
  expect(() => queue.hasRoom("a", weight)).toThrow(RangeError);
  expect({ size: queue.size, weight: queue.weight }).toEqual({ size: 0, weight: 0 });

  const thread = createThreadScheduler();
  expect(() => thread.turn("a", weight)).toThrow(RangeError);
  expect([thread.turn("a", 1), thread.waiting]).toEqual([undefined, 0]);

  const limiter = createLimiter({ places: 1, maxWaiting: 1, maxWaitMs: 1, whenBusy: Error, clock: steadyClock });
  expect(limiter.run(async () => undefined, { weight })).rejects.toThrow(RangeError);
  expect(limiter.running).toBe(0);
});
