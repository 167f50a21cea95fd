import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createOwner } from "../owner.ts";
import { createLimiter } from "./limiter.ts";

const maxWaitMs = 1_000;

describe("a limiter", () => {
  let now = 0;
  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
  });
  afterEach(() => void jest.useRealTimers());

  function setUp(places = 2, maxWaiting = 100) {
    const limiter = createLimiter({
      places,
      maxWaiting,
      maxWaitMs,
      whenBusy: () => new Error("busy"),
      clock: { now: () => now },
    });
    const started: number[] = [];
    const outcomes: string[] = [];
    const works: PromiseWithResolvers<void>[] = [];
    function add(index: number, owner = createOwner(() => undefined), key?: string) {
      const work = Promise.withResolvers<void>();
      works[index] = work;
      limiter
        .run(
          () => {
            started.push(index);
            return work.promise;
          },
          { owner, key },
        )
        .then(
          () => outcomes.push(`${index} done`),
          (error: Error) => outcomes.push(`${index} ${error.message}`),
        );
      return owner;
    }
    return { limiter, started, outcomes, add, end: (index: number) => works[index]?.resolve(), works };
  }

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }

  function pass(ms: number): void {
    now += ms;
    jest.advanceTimersByTime(ms);
  }

  test("runs as many at once as it has places, and the others in order of arrival", async () => {
    const { limiter, started, add, end, outcomes } = setUp();
    for (let index = 0; index < 5; index++) add(index);
    expect(started).toEqual([0, 1]);
    expect([limiter.running, limiter.waiting]).toEqual([2, 3]);
    end(1);
    await settle();
    expect(started).toEqual([0, 1, 2]);
    for (const index of [0, 2, 3, 4]) {
      end(index);
      await settle();
    }
    expect(outcomes).toEqual(["1 done", "0 done", "2 done", "3 done", "4 done"]);
    expect([limiter.running, limiter.waiting]).toEqual([0, 0]);
  });

  test("passes on its place if a task fails", async () => {
    const { limiter, started, add, works, outcomes } = setUp(1);
    add(0);
    add(1);
    works[0]?.reject(new Error("broken"));
    await settle();
    expect(outcomes).toEqual(["0 broken"]);
    expect(started).toEqual([0, 1]);
    expect(limiter.running).toBe(1);
  });

  test("refuses tasks at once if too many wait, and later those that wait too long", async () => {
    const { started, add, end, outcomes } = setUp(1, 2);
    add(0);
    add(1);
    pass(600);
    add(2);
    add(3);
    await settle();
    expect(outcomes).toEqual(["3 busy"]);
    pass(400);
    await settle();
    expect(outcomes).toEqual(["3 busy", "1 busy"]);
    end(0);
    await settle();
    pass(10_000);
    expect(started).toEqual([0, 2]);
  });

  test("drops a waiting task when its owner closes, and never begins it", async () => {
    const { limiter, started, add, end, outcomes } = setUp(1);
    add(0);
    const gone = add(1);
    add(2);
    gone.close();
    await settle();
    expect(outcomes).toEqual(["1 busy"]);
    expect(limiter.waiting).toBe(1);
    end(0);
    await settle();
    expect(started).toEqual([0, 2]);
  });

  test("never begins a task whose owner has closed, with or without a free place", async () => {
    const { add, outcomes, started } = setUp(1);
    const gone = createOwner(() => undefined);
    gone.close();
    add(0, gone);
    add(1);
    add(2, gone);
    await settle();
    expect(outcomes).toEqual(["0 busy", "2 busy"]);
    expect(started).toEqual([1]);
  });

  test("lets keys take turns, and eventually refuses tasks that have waited too long", async () => {
    const { started, add, end, outcomes } = setUp(1);
    for (let index = 0; index < 4; index++) add(index, undefined, "a");
    pass(500);
    add(4, undefined, "b");
    for (const index of [0, 1]) {
      end(index);
      await settle();
    }
    expect(started).toEqual([0, 1, 4]);
    pass(500);
    await settle();
    expect(outcomes).toEqual(["0 done", "1 done", "2 busy", "3 busy"]);
  });

  test("has a place in the queue for another key, however many wait under one", async () => {
    const { limiter, add, outcomes } = setUp(1, 10);
    for (let index = 0; index < 20; index++) add(index, undefined, "a");
    await settle();
    expect(limiter.waiting).toBe(8);
    expect(outcomes).toHaveLength(11);
    add(20, undefined, "b");
    await settle();
    expect(limiter.waiting).toBe(9);
    expect(outcomes).not.toContain("20 busy");
  });
});
