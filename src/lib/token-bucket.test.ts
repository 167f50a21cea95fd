import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createTokenBuckets } from "./token-bucket.ts";

/** Buckets on a clock that the test moves. */
function bucketsAt(options: { perSecond: number; burst: number; maxBuckets?: number }) {
  let now = 1_000_000;
  const buckets = createTokenBuckets({ ...options, clock: { now: () => now } });
  return {
    ...buckets,
    take: (name = "key") => buckets.take(name),
    pass: (milliseconds: number) => (now += milliseconds),
  };
}

describe("a token bucket", () => {
  test("lets a burst pass, then one request for each token that comes back", () => {
    const { take, pass } = bucketsAt({ perSecond: 10, burst: 3 });
    expect([take(), take(), take()].map(({ remaining }) => remaining)).toEqual([2, 1, 0]);
    expect(take()).toEqual({ isAllowed: false, remaining: 0, retryAfterMs: 100 });
    pass(99);
    expect(take().isAllowed).toBe(false);
    pass(1);
    expect(take().isAllowed).toBe(true);
    expect(take().isAllowed).toBe(false);
  });

  test("lets the request pass that waits as long as it was told", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 50 }), (perSecond, burst) => {
        const { take, pass } = bucketsAt({ perSecond, burst });
        for (let count = 0; count < burst; count++) expect(take().isAllowed).toBe(true);
        const { isAllowed, retryAfterMs } = take();
        expect(isAllowed).toBe(false);
        pass(retryAfterMs);
        expect(take().isAllowed).toBe(true);
      }),
    );
  });

  test("never lets more pass than the burst and what came back since", () => {
    const steps = fc.array(fc.nat(500), { maxLength: 100 });
    fc.assert(
      fc.property(steps, (waits) => {
        const { take, pass } = bucketsAt({ perSecond: 7, burst: 5 });
        const passed = waits.filter((wait) => {
          pass(wait);
          return take().isAllowed;
        }).length;
        const seconds = waits.reduce((sum, wait) => sum + wait, 0) / 1000;
        expect(passed).toBeLessThanOrEqual(5 + 7 * seconds);
      }),
    );
  });

  test("holds no more than the burst, however long it rests", () => {
    const { take, pass } = bucketsAt({ perSecond: 1000, burst: 2 });
    pass(60_000);
    expect([take(), take(), take()].map(({ isAllowed }) => isAllowed)).toEqual([true, true, false]);
  });

  test("is looked into without taking", () => {
    const { take, peek, pass } = bucketsAt({ perSecond: 10, burst: 1 });
    expect(peek("key")).toEqual({ isAllowed: true, remaining: 1, retryAfterMs: 0 });
    expect(peek("key").isAllowed).toBe(true);
    take();
    expect(peek("key")).toEqual({ isAllowed: false, remaining: 0, retryAfterMs: 100 });
    pass(100);
    expect(peek("key").isAllowed).toBe(true);
    expect(take().isAllowed).toBe(true);
  });

  test("gives each name its own tokens", () => {
    const { take } = bucketsAt({ perSecond: 1, burst: 1 });
    expect([take("a"), take("a"), take("b")].map(({ isAllowed }) => isAllowed)).toEqual([true, false, true]);
  });

  test("takes no tokens away when the clock goes back", () => {
    const { take, pass } = bucketsAt({ perSecond: 1, burst: 2 });
    take();
    pass(-60_000);
    expect(take().isAllowed).toBe(true);
    expect(take().isAllowed).toBe(false);
  });

  test("holds a bounded number of buckets: the one that rested longest is forgotten", () => {
    const { take } = bucketsAt({ perSecond: 1, burst: 1, maxBuckets: 2 });
    take("a");
    take("b");
    expect(take("a").isAllowed).toBe(false);
    take("c");
    expect(take("a").isAllowed).toBe(false);
    expect(take("b").isAllowed).toBe(true);
  });

  test.each([
    ["rate", { perSecond: Number.POSITIVE_INFINITY, burst: 1 }],
    ["burst", { perSecond: 1, burst: Number.POSITIVE_INFINITY }],
  ])("is lifted when the %s is", (_, options) => {
    const { take } = bucketsAt(options);
    for (let count = 0; count < 100; count++) expect(take().isAllowed).toBe(true);
  });
});
