import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimerWheel } from "./timer-wheel.ts";

const tickMs = 1_000;

function setUp(startMs = 0) {
  const time = { ms: startMs };
  const errors: unknown[] = [];
  const wheel = createTimerWheel({ clock: { now: () => time.ms }, tickMs, onError: (error) => errors.push(error) });
  const called: string[] = [];
  return {
    wheel,
    errors,
    called,
    pass(ms: number) {
      time.ms += ms;
      wheel.turn();
    },
  };
}

test("a timer is called once, not early and at most one tick late", () => {
  fc.assert(
    fc.property(fc.nat(5_000_000), fc.nat(200_000), (startMs, ms) => {
      const { wheel, called, pass } = setUp(startMs);
      wheel.after(ms, () => called.push("due"));
      let passed = 0;
      while (called.length === 0) {
        pass(tickMs);
        passed += tickMs;
        if (called.length > 0) break;
        expect(passed).toBeLessThan(ms + 2 * tickMs);
      }
      expect(passed).toBeGreaterThanOrEqual(ms);
      for (let tick = 0; tick < 10; tick++) pass(tickMs);
      expect(called).toEqual(["due"]);
      expect(wheel.size).toBe(0);
    }),
  );
});

test("a cancelled timer is never called, and cancelling again or later does nothing", () => {
  const { wheel, called, pass } = setUp();
  const cancel = wheel.after(2_000, () => called.push("cancelled"));
  const cancelLater = wheel.after(2_000, () => called.push("kept"));
  expect(wheel.size).toBe(2);
  cancel();
  cancel();
  expect(wheel.size).toBe(1);
  pass(10_000);
  cancelLater();
  expect(called).toEqual(["kept"]);
  expect(wheel.size).toBe(0);
});

test("a timer may set and cancel others when called, even those of the same tick", () => {
  const { wheel, called, pass } = setUp();
  const cancels: (() => void)[] = [];
  wheel.after(0, () => {
    for (const cancel of cancels) cancel();
    wheel.after(0, () => called.push("next"));
  });
  cancels.push(wheel.after(0, () => called.push("cancelled")));
  pass(2_000);
  expect(called).toEqual([]);
  pass(2_000);
  expect(called).toEqual(["next"]);
});

test("a timer that throws does not stop the others, and is reported", () => {
  const { wheel, called, errors, pass } = setUp();
  wheel.after(1_000, () => {
    throw new Error("broken");
  });
  wheel.after(1_000, () => called.push("kept"));
  pass(3_000);
  expect([called, errors, wheel.size]).toEqual([["kept"], [new Error("broken")], 0]);
});

test("timers that fell due in a long pause are called in order", () => {
  const { wheel, called, pass } = setUp();
  for (const ms of [90_000, 1_000, 60_000]) wheel.after(ms, () => called.push(String(ms)));
  pass(100_000);
  expect(called).toEqual(["1000", "60000", "90000"]);
});

test("a clock that goes back calls nothing twice and loses nothing", () => {
  const { wheel, called, pass } = setUp(100_000);
  wheel.after(1_000, () => called.push("first"));
  pass(3_000);
  pass(-50_000);
  wheel.after(1_000, () => called.push("second"));
  pass(60_000);
  expect(called).toEqual(["first", "second"]);
});
