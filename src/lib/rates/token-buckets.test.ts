import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTokenBuckets } from "./token-buckets.ts";

function create() {
  const time = { now: 0 };
  return { time, buckets: createTokenBuckets({ clock: { now: () => time.now } }) };
}

const rate = { perSecond: 10, burst: 20 };

test("a caller may proceed while its bucket holds a unit, and otherwise learns how long to wait", () => {
  const { buckets, time } = create();
  for (let count = 0; count < 20; count++) {
    expect(buckets.waitMs("a", rate)).toBe(0);
    buckets.charge("a", rate, 1);
  }
  expect(buckets.waitMs("a", rate)).toBe(100);
  expect(buckets.waitMs("b", rate)).toBe(0);
  time.now += 50;
  expect(buckets.waitMs("a", rate)).toBe(50);
  time.now += 50;
  expect(buckets.waitMs("a", rate)).toBe(0);
});

test("a cost beyond what is left passes once, and is paid before the next", () => {
  const { buckets, time } = create();
  buckets.charge("a", rate, 65);
  expect(buckets.waitMs("a", rate)).toBe(4_600);
  time.now += 4_600;
  expect(buckets.waitMs("a", rate)).toBe(0);
});

test("units can be refunded, up to what the bucket holds", () => {
  const { buckets } = create();
  buckets.charge("a", rate, 20);
  buckets.charge("a", rate, -1);
  expect(buckets.waitMs("a", rate)).toBe(0);
  buckets.charge("b", rate, -100);
  buckets.charge("b", rate, 21);
  expect(buckets.waitMs("b", rate)).toBe(200);
});

test("a lowered rate takes effect at once, and a lifted one never makes anyone wait", () => {
  const { buckets } = create();
  buckets.charge("a", rate, 10);
  expect(buckets.waitMs("a", { perSecond: 1, burst: 2 })).toBe(0);
  buckets.charge("a", { perSecond: 1, burst: 2 }, 2);
  expect(buckets.waitMs("a", { perSecond: 1, burst: 2 })).toBe(1_000);
  expect(buckets.waitMs("a", { perSecond: Number.POSITIVE_INFINITY, burst: 1 })).toBe(0);
});

test("the number of buckets is bounded: the least recently used goes", () => {
  const { buckets } = create();
  buckets.charge("a", rate, 50);
  buckets.charge("b", rate, 50);
  buckets.charge("a", rate, 1);
  for (let other = 0; other < 9_999; other++) buckets.charge(String(other), rate, 50);
  expect(buckets.waitMs("b", rate)).toBe(0);
  expect(buckets.waitMs("a", rate)).toBe(3_200);
});

/** Takes a unit if there is one. */
function take({ buckets }: ReturnType<typeof create>, of = rate): boolean {
  if (buckets.waitMs("a", of) > 0) return false;
  buckets.charge("a", of, 1);
  return true;
}

test("a caller that waits as long as told may proceed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 50 }), (perSecond, burst) => {
      const made = create();
      for (let count = 0; count < burst; count++) expect(take(made, { perSecond, burst })).toBe(true);
      const waitMs = made.buckets.waitMs("a", { perSecond, burst });
      expect(waitMs).toBeWithin(1000 / perSecond, 1000 / perSecond + 1);
      made.time.now += waitMs;
      expect(take(made, { perSecond, burst })).toBe(true);
    }),
  );
});

test("never more passes than the burst and what was refilled since", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500), { maxLength: 100 }), (waits) => {
      const made = create();
      const passed = waits.filter((wait) => {
        made.time.now += wait;
        return take(made, { perSecond: 7, burst: 5 });
      }).length;
      const seconds = waits.reduce((sum, wait) => sum + wait, 0) / 1000;
      expect(passed).toBeLessThanOrEqual(5 + 7 * seconds);
    }),
  );
});

test("a bucket holds no more than the burst, however long it rests, and loses nothing when the clock goes back", () => {
  const made = create();
  const few = { perSecond: 1000, burst: 2 };
  expect(take(made, few)).toBe(true);
  made.time.now += 60_000;
  expect([1, 2, 3].map(() => take(made, few))).toEqual([true, true, false]);
  made.time.now += 1;
  made.time.now -= 60_000;
  expect(made.buckets.waitMs("a", few)).toBe(1);
});
