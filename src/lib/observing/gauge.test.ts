import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { followValue } from "./gauge.ts";

/** Lets promises that are settled go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe("a gauge", () => {
  let now = 0;
  const errors: unknown[] = [];
  const options = { clock: { now: () => now }, onError: (error: unknown) => void errors.push(error) };

  async function pass(ms: number): Promise<void> {
    now += ms;
    jest.advanceTimersByTime(ms);
    await settle();
  }

  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    errors.length = 0;
  });
  afterEach(() => void jest.useRealTimers());

  test("reads at once and then every 5 s, and says how old its value is", async () => {
    let reads = 0;
    const gauge = followValue(async () => ++reads, options);
    expect(gauge.current()).toBeUndefined();
    await settle();
    expect(gauge.current()).toEqual({ value: 1, ageMs: 0 });
    await pass(4_999);
    expect(gauge.current()).toEqual({ value: 1, ageMs: 4_999 });
    await pass(1);
    expect(gauge.current()).toEqual({ value: 2, ageMs: 0 });
    gauge.stop();
    await pass(60_000);
    expect(reads).toBe(2);
  });

  test.each([
    [250, 5_000],
    [1_000, 12_000],
    [10_000, 60_000],
  ])("pauses after a reading of %d ms for %d ms, and never reads twice at a time", async (tookMs, pauseMs) => {
    let reads = 0;
    const gauge = followValue(async () => {
      reads++;
      await new Promise((resolve) => setTimeout(resolve, tookMs));
    }, options);
    await pass(tookMs);
    await pass(pauseMs - 1);
    expect(reads).toBe(1);
    await pass(1);
    expect(reads).toBe(2);
    gauge.stop();
  });

  test("has no value while it cannot be read, and reports each outage once", async () => {
    let failure: Error | undefined;
    const gauge = followValue(async () => {
      if (failure !== undefined) throw failure;
      return "read";
    }, options);
    await settle();
    failure = new Error("away");
    await pass(5_000);
    await pass(5_000);
    expect(gauge.current()).toBeUndefined();
    expect(errors).toEqual([failure]);
    failure = undefined;
    await pass(5_000);
    expect(gauge.current()?.value).toBe("read");
    failure = new Error("away again");
    await pass(5_000);
    expect(errors).toHaveLength(2);
    gauge.stop();
  });

  test("that was stopped while it was read neither reads again nor reports a failure", async () => {
    const reading = Promise.withResolvers<void>();
    let reads = 0;
    const gauge = followValue(() => {
      reads++;
      return reading.promise;
    }, options);
    gauge.stop();
    reading.reject(new Error("the database is closed"));
    await settle();
    await pass(60_000);
    expect([reads, errors.length]).toEqual([1, 0]);
  });
});
