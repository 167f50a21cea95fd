import { describe, expect, test } from "bun:test";
import { createOwner } from "../../lib/owner.ts";
import { createTimerWheel } from "../../lib/time/timer-wheel.ts";
import { createHeartbeats } from "./heartbeat.ts";

const tickMs = 250;
const every = { pingMs: 25_000, pongMs: 10_000 };

function setUp() {
  let now = 0;
  const wheel = createTimerWheel({ clock: { now: () => now }, tickMs, onError: expect.unreachable });
  const owner = createOwner(() => undefined);
  const calls: { what: string; at: number }[] = [];
  return {
    wheel,
    owner,
    calls,
    heartbeats: createHeartbeats({ wheel }),
    note: (what: string) => void calls.push({ what, at: now }),
    pass(ms: number) {
      for (const end = now + ms; now < end; ) {
        now += tickMs;
        wheel.turn();
      }
    },
  };
}

describe("heartbeats", () => {
  test("ping at their interval, the first time after one interval at most, and never cut a peer that answers", () => {
    const { heartbeats, owner, calls, note, pass } = setUp();
    heartbeats.watch(owner, every, {
      ping: () => note("ping"),
      isAlive: () => true,
      cut: () => note("cut"),
    });
    pass(200_000);
    expect(new Set(calls.map(({ what }) => what))).toEqual(new Set(["ping"]));
    const times = calls.map(({ at }) => at);
    expect(times[0]).toBeLessThanOrEqual(25_000 + tickMs);
    for (const [index, at] of times.slice(1).entries())
      expect(at - (times[index] ?? 0)).toBeWithin(25_000, 25_000 + 4 * tickMs);
  });

  test("cut a peer that does not answer in time", () => {
    const { heartbeats, owner, calls, note, pass } = setUp();
    heartbeats.watch(owner, every, { isAlive: () => false, ping: () => note("ping"), cut: () => owner.close() });
    owner.hold(() => note("closed"));
    pass(100_000);
    expect(calls.map(({ what }) => what)).toEqual(["ping", "closed"]);
    expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeWithin(10_000, 10_000 + 2 * tickMs);
  });

  test("end with their owner, even during a beat, and do not start after it", () => {
    const { wheel, heartbeats, owner, calls, note, pass } = setUp();
    heartbeats.repeat(owner, 1_000, () => {
      note("beat");
      if (calls.length === 3) owner.close();
    });
    pass(20_000);
    expect(calls.length).toBe(3);
    heartbeats.repeat(owner, 1_000, () => note("late"));
    heartbeats.once(owner, 1_000, () => note("late"));
    pass(5_000);
    expect(calls.length).toBe(3);
    expect(wheel.size).toBe(0);
  });

  test("that start together do not beat together", () => {
    const { heartbeats, owner, calls, note, pass } = setUp();
    for (let index = 0; index < 1_000; index++) heartbeats.repeat(owner, 25_000, () => note("beat"));
    pass(25_000);
    const perTick = Map.groupBy(calls, ({ at }) => at);
    expect(Math.max(...[...perTick.values()].map(({ length }) => length))).toBeLessThan(30); // 20 if evenly spread
  });
});
