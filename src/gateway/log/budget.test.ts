import { describe, expect, test } from "bun:test";
import { createBudget, weightOf } from "./budget.ts";
import { createRing } from "./ring.ts";
import { event, settled, setUp, upTo } from "./testing/sequencer-setup.ts";

const start = { offset: 0, id: "" };
const mebibyte = 1024 * 1024;

describe("the shared budget of all rings", () => {
  test("is exceeded by one event at most, however many rings there are: the least recently used go first", () => {
    const budget = createBudget(mebibyte);
    const rings = Array.from({ length: 500 }, () => createRing(start, budget));
    for (const offset of upTo(20)) {
      for (const ring of rings) {
        ring.push(event(offset, 5_000));
        expect(budget.bytes).toBeLessThanOrEqual(mebibyte + weightOf(event(offset, 5_000)));
      }
    }
    expect(rings.at(-1)?.after(19)).toHaveLength(1);
    expect(rings[0]?.after(19)).toBeUndefined();
    expect(rings[0]?.after(20)).toEqual([]);
    expect(rings[0]?.idAt(20)).toBe("e20"); // it knows its place, though it holds nothing
    for (const ring of rings) ring.clear();
    expect(budget.bytes).toBe(0);
  });

  test("is shared evenly: a small ring keeps its events, however much and often others add", () => {
    const budget = createBudget(8 * mebibyte);
    const quiet = Array.from({ length: 100 }, () => createRing(start, budget));
    for (const ring of quiet) ring.push(event(1));
    const busy = Array.from({ length: 4 }, () => createRing(start, budget));
    for (const offset of upTo(300)) {
      for (const ring of busy) ring.push(event(offset, 100_000));
      expect(budget.bytes).toBeLessThanOrEqual(8 * mebibyte);
    }
    expect(quiet.filter((ring) => ring.after(0) !== undefined)).toHaveLength(100);
    expect(busy.at(-1)?.after(299)).toHaveLength(1);
  });

  test("counts recipients, and events without a payload", () => {
    const uids = upTo(1_000).map(String);
    expect(weightOf({ ...event(1, 0), uids })).toBeGreaterThan(weightOf(event(1, 0)) + 30_000);
    expect(weightOf(event(1, 0))).toBeWithin(100, 1_000);
  });

  test("gets back what a ring drops by age", async () => {
    const budget = createBudget();
    const ring = createRing(start, budget);
    for (const offset of upTo(3)) ring.push(event(offset));
    await Bun.sleep(2);
    const time = performance.now();
    ring.push(event(4));
    ring.forgetBefore(time);
    expect([ring.after(3)?.length, ring.after(2), budget.bytes]).toEqual([1, undefined, weightOf(event(4))]);
    ring.forgetBefore(performance.now() + 1);
    expect([ring.after(4), ring.idAt(4), budget.bytes]).toEqual([[], "e4", 0]);
  });

  test("once spent, keeps a sequencer from holding events but not from playing: it reads the store", async () => {
    const { sequencer, played, budget, log } = setUp({ committed: 300, budgetBytes: 10_000 });
    for (const offset of upTo(300, 2)) sequencer.offer(event(offset, 500));
    await settled(sequencer, 300);
    expect(played).toEqual(upTo(300));
    expect(log.reads).toBe(2);
    for (const offset of [302, 303]) sequencer.offer(event(offset)); // these are held
    sequencer.stop();
    expect(budget.bytes).toBe(0);
  });
});
