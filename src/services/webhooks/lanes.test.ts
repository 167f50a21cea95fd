import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createLanes } from "./lanes.ts";

type End = { isGood: boolean; durationMs: number };

/** Lanes whose jobs end when a test says so. */
function setUp() {
  const started: string[] = [];
  const ends = new Map<string, (result: End) => void>();
  let rooms = 0;
  const lanes = createLanes<string>({
    run(name) {
      started.push(name);
      const { promise, resolve } = Promise.withResolvers<End>();
      ends.set(name, resolve);
      return promise;
    },
    onRoom: () => rooms++,
  });
  const add = (org: string, ref: string, count: number) =>
    lanes.add(
      org,
      ref,
      Array.from({ length: count }, (_, index) => `${ref}-${index}`),
    );
  const startedOf = (ref: string) => started.filter((name) => name.startsWith(`${ref}-`)).length;
  /** Ends all jobs of a webhook that have begun. */
  async function endAll(ref: string, result: Partial<End> = {}): Promise<void> {
    for (const [name, end] of [...ends]) {
      if (!name.startsWith(`${ref}-`)) continue;
      ends.delete(name);
      end({ isGood: true, durationMs: 10, ...result });
    }
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
  /** Lets those that are in flight take too long. */
  function hang(): void {
    jest.advanceTimersByTime(3_000);
  }
  return { lanes, add, started, startedOf, endAll, hang, rooms: () => rooms };
}

describe("lanes", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("begin eight posts of a webhook at once, and more the longer its receiver is quick", async () => {
    const { add, startedOf, endAll } = setUp();
    add("o", "a", 100);
    expect(startedOf("a")).toBe(8);
    await endAll("a");
    expect(startedOf("a")).toBe(8 + 16);
  });

  test("leave a receiver that is slow or fails a single place, and the others theirs", async () => {
    const { lanes, add, startedOf, endAll } = setUp();
    add("o", "slow", 100);
    await endAll("slow", { isGood: false });
    expect(startedOf("slow")).toBe(9);
    await endAll("slow", { durationMs: 15_000 });
    expect(startedOf("slow")).toBe(10);
    expect([lanes.roomOf("slow"), lanes.busy()]).toEqual([0, ["slow"]]);
    add("o", "quick", 100);
    expect(startedOf("quick")).toBe(8);
  });

  test("give an organization a quarter of the places, however many webhooks it has", () => {
    const { add, started, startedOf } = setUp();
    for (let hook = 0; hook < 20; hook++) add("greedy", `g${hook}`, 100);
    const ofOthers = 20 - 64 / 8; // that have only the one that each webhook has
    expect(started.length).toBe(64 + ofOthers);
    add("other", "o", 100);
    expect(startedOf("o")).toBe(8);
  });

  test("keep a place for each webhook when receivers that were quick hang in all others", async () => {
    const { lanes, add, startedOf, endAll } = setUp();
    const hanging = Array.from({ length: 8 }, (_, index) => `hanging${index}`);
    for (const ref of hanging) {
      for (let round = 0; round < 4; round++) {
        add(`org-${ref}`, ref, 100);
        await endAll(ref);
      }
      add(`org-${ref}`, ref, lanes.roomOf(ref));
    }
    expect(lanes.held).toBeGreaterThanOrEqual(3_500);
    add("org-hanging0", "neighbour", 20);
    add("another", "another", 20);
    expect([startedOf("neighbour"), startedOf("another")]).toEqual([1, 1]);
    await endAll("neighbour");
    expect(startedOf("neighbour")).toBe(2);
    expect(lanes.roomOf("one more")).toBeGreaterThan(0);
  });

  test("free the places of posts that take long, but begin no more of their webhook", async () => {
    const { lanes, add, startedOf, endAll, hang } = setUp();
    for (const count of [8, 16, 32]) {
      add("o", "hanging", count);
      await endAll("hanging");
    }
    expect(lanes.busy()).toEqual([]);
    add("o", "hanging", 200);
    const before = startedOf("hanging");
    hang();
    add("o", "neighbour", 100);
    expect(startedOf("neighbour")).toBe(8);
    expect(lanes.busy()).toContain("hanging");
    await endAll("neighbour");
    expect([startedOf("neighbour"), startedOf("hanging")]).toEqual([8 + 16, before]);
    await endAll("hanging", { isGood: false, durationMs: 15_000 });
    expect(startedOf("hanging")).toBe(before + 1);
  });

  test("let webhooks take turns when all places are taken", async () => {
    const { add, started, endAll } = setUp();
    for (let hook = 0; hook < 40; hook++) add(`org-${hook}`, `h${hook}`, 20);
    expect(started.length).toBe(256 + 8); // with the one place of each of those that come too late
    const before = started.length;
    for (let hook = 0; hook < 8; hook++) await endAll(`h${hook}`);
    const next = started.slice(before).map((name) => name.split("-")[0]);
    const waited = Array.from({ length: 8 }, (_, index) => `h${32 + index}`);
    expect(waited.filter((one) => !next.slice(0, 16).includes(one))).toEqual([]);
  });

  test("tell that there is room, and forget what has not begun when they are cleared", async () => {
    const { lanes, add, started, endAll, rooms } = setUp();
    add("o", "a", 20);
    add("o", "b", 20);
    lanes.clear("a");
    expect(lanes.held).toBe(8 + 20);
    await endAll("a");
    expect([rooms() > 0, lanes.held]).toEqual([true, 20]);
    lanes.clear();
    await endAll("b");
    expect([lanes.held, started.length]).toEqual([0, 16]);
  });
});
