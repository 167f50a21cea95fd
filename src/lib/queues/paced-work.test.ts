import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createLimiter } from "./limiter.ts";
import { createPacedWork } from "./paced-work.ts";

const pauseMs = 8;
const pausesAfter: Record<string, number> = { small: 0, huge: 2.5 };

describe("paced work", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function setUp(maxWaiting = 10) {
    const whenBusy = () => new Error("busy");
    const limiter = createLimiter({ places: 1, maxWaiting, maxWaitMs: 1_000, whenBusy, clock: { now: () => 0 } });
    const paced = createPacedWork({ limiter, pauseMs });
    const done: string[] = [];
    const add = (name: string, key = "o") =>
      paced
        .run(async () => name, { key, pausesAfter: (done) => pausesAfter[done] ?? 1 })
        .then(
          (text) => done.push(text),
          (error: Error) => done.push(`${name}: ${error.message}`),
        );
    return { paced, done, add };
  }

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }

  test("answers at once, and begins the next only after a pause; keys take turns", async () => {
    const { done, add } = setUp();
    for (const name of ["a1", "a2", "a3"]) void add(name, "a");
    void add("b1", "b");
    const seen: string[] = [];
    for (let round = 0; round < 4; round++) {
      await settle();
      seen.push(done.join());
      jest.advanceTimersByTime(pauseMs - 1);
      await settle();
      expect(done.join()).toBe(seen[round] ?? "");
      jest.advanceTimersByTime(1);
    }
    expect(seen).toEqual(["a1", "a1,a2", "a1,a2,b1", "a1,a2,b1,a3"]);
  });

  test("rejects like the work, and continues", async () => {
    const { paced, done, add } = setUp();
    const failing = paced.run(() => Promise.reject(new Error("failed")), { key: "o" });
    await expect(failing).rejects.toThrow("failed");
    void add("next");
    await settle();
    expect(done).toEqual(["next"]);
  });

  test("does not pause after small work", async () => {
    const { done, add } = setUp();
    for (const name of ["small", "first", "second"]) void add(name);
    await settle();
    expect(done).toEqual(["small", "first"]);
  });

  test("pauses longer after huge work", async () => {
    const { done, add } = setUp();
    for (const name of ["huge", "next"]) void add(name);
    await settle();
    jest.advanceTimersByTime(2.5 * pauseMs - 1);
    await settle();
    expect(done).toEqual(["huge"]);
    jest.advanceTimersByTime(1);
    await settle();
    expect(done).toEqual(["huge", "next"]);
  });

  test("refuses what does not fit into the queue", async () => {
    const { done, add } = setUp(1);
    for (const name of ["first", "second", "third"]) void add(name);
    await settle();
    expect(done).toEqual(["first", "third: busy"]);
  });
});
