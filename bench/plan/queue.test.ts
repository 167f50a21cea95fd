import { describe, expect, test } from "bun:test";
import { type Flow, simulate } from "./queue.ts";
import { batchesPerSecond } from "./traffic.ts";

const flow: Flow = {
  sends: 600,
  sendMicros: 50,
  commitMicros: 700,
  databaseMicros: 1_400,
  databaseMicrosPerEvent: 20,
  hints: 1_500,
  hintMicros: 100,
  maxBatch: 500,
};

describe("a node's queue", () => {
  test("gives equal waits for equal seeds, and others for another", () => {
    expect(simulate(flow, 5, 1)).toEqual(simulate(flow, 5, 1));
    expect(simulate(flow, 5, 1)).not.toEqual(simulate(flow, 5, 2));
  });

  test("adds nothing to the work itself if there is nothing else to do", () => {
    const { p50Ms, eventsPerCommit } = simulate({ ...flow, sends: 1, hints: 1 }, 200, 1);
    expect(p50Ms).toBeCloseTo((50 + 700 + 1_400 + 20 + 100) / 1000, 6);
    expect(eventsPerCommit).toBeLessThan(1.02);
  });

  test("plays every send", () => {
    const { played } = simulate({ ...flow, hints: 0 }, 20, 1);
    expect(played / 20).toBeGreaterThan(550);
    expect(played / 20).toBeLessThan(650);
  });

  test("is as busy as its input requires, counted by hand", () => {
    const { busy, eventsPerCommit } = simulate(flow, 30, 1);
    const expected = (600 * 50 + (600 / eventsPerCommit) * 700 + 1_500 * 100) * 1e-6;
    expect(busy / expected).toBeGreaterThan(0.95);
    expect(busy / expected).toBeLessThan(1.05);
  });

  test("makes about as many commits as the planner assumes", () => {
    for (const sends of [50, 300, 600, 2_000]) {
      const { eventsPerCommit } = simulate({ ...flow, sends, hints: sends }, 30, 1);
      const commits = sends / eventsPerCommit;
      const planned = batchesPerSecond(sends, 0.0021);
      expect(commits / planned).toBeGreaterThan(0.6);
      expect(commits / planned).toBeLessThan(1.4);
    }
  });

  test("makes everyone wait longer under more load", () => {
    const [light, middling, heavy] = [0.2, 1, 4].map((load) =>
      simulate({ ...flow, sends: flow.sends * load, hints: flow.hints * load }, 20, 1),
    );
    expect(middling?.p99Ms).toBeGreaterThan(light?.p99Ms ?? Number.NaN);
    expect(heavy?.p99Ms).toBeGreaterThan(middling?.p99Ms ?? Number.NaN);
    expect(heavy?.eventsPerCommit).toBeGreaterThan(middling?.eventsPerCommit ?? Number.NaN);
  });

  test("puts no more into a commit than fits", () => {
    const { eventsPerCommit } = simulate({ ...flow, sends: 5_000, maxBatch: 3 }, 1, 1);
    expect(eventsPerCommit).toBeLessThanOrEqual(3);
  });
});
