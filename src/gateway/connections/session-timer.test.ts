import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createOwner } from "../../lib/owner.ts";
import { SessionTimer } from "./session-timer.ts";

const day = 24 * 3600 * 1000;
const start = 1_000_000;

describe("a session timer", () => {
  let now = start;
  const calls: string[] = [];
  let owner = createOwner(() => undefined);
  let timer: SessionTimer;

  beforeEach(() => {
    jest.useFakeTimers();
    now = start;
    calls.length = 0;
    owner = createOwner(() => undefined);
    const clock = { now: () => now };
    timer = new SessionTimer(owner, clock, {
      onExpiring: () => calls.push(`expiring at ${now - start}`),
      onExpired: () => calls.push(`expired at ${now - start}`),
    });
  });
  afterEach(() => {
    owner.close();
    jest.useRealTimers();
  });

  function pass(milliseconds: number): void {
    now += milliseconds;
    jest.advanceTimersByTime(milliseconds);
  }

  test("warns once, a minute before expiry, and then ends", () => {
    timer.extend(start + 600_000);
    pass(539_999);
    expect(calls).toEqual([]);
    pass(1);
    pass(60_000);
    pass(day);
    expect(calls).toEqual(["expiring at 540000", "expired at 600000"]);
  });

  test("warns halfway through a short session", () => {
    timer.extend(start + 2_000);
    pass(1_000);
    pass(1_000);
    expect(calls).toEqual(["expiring at 1000", "expired at 2000"]);
  });

  test("restarts when it is extended", () => {
    timer.extend(start + 2_000);
    pass(1_000);
    pass(500);
    timer.extend(start + 600_000);
    pass(1_000);
    expect(calls).toEqual(["expiring at 1000"]);
    pass(537_500);
    expect(calls).toEqual(["expiring at 1000", "expiring at 540000"]);
  });

  test("waits out a session of 30 days, which no single timer can", () => {
    timer.extend(start + 30 * day);
    pass(1);
    expect(calls).toEqual([]);
    for (let count = 0; count < 30; count++) pass(day);
    expect(calls.map((call) => call.split(" ")[0])).toEqual(["expiring", "expired"]);
  });

  test("ends an expired session at once", () => {
    timer.extend(start - 1);
    pass(1);
    pass(1);
    expect(calls.map((call) => call.split(" ")[0])).toEqual(["expiring", "expired"]);
  });

  test("does nothing once its owner has closed, even if started later", () => {
    timer.extend(start + 2_000);
    owner.close();
    pass(2_000);
    timer.extend(start + 4_000);
    pass(4_000);
    expect(calls).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
