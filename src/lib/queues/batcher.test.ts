import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createBatcher, type Overlap, type Weights } from "./batcher.ts";

const full = () => new Error("full");

/** A batcher that records its batches and, with `isHeld`, holds each of them until `release`. */
function recorded(
  options: {
    maxBatch?: number;
    maxWaiting?: number;
    weights?: Weights<number>;
    isHeld?: boolean;
    overlap?: Overlap | undefined;
  } = {},
) {
  const batches: number[][] = [];
  const held: (() => void)[] = [];
  const batcher = createBatcher<number, string>({
    maxBatch: options.maxBatch ?? 200,
    maxWaiting: options.maxWaiting ?? 1000,
    overlap: options.overlap,
    ...(options.weights !== undefined && { weights: options.weights }),
    whenFull: full,
    async flush(items) {
      batches.push(items);
      if (options.isHeld) await new Promise<void>((resolve) => held.push(resolve));
      return items.map((item) => `result ${item}`);
    },
  });
  return { batcher, batches, release: () => held.shift()?.() };
}

const refusalOf = (added: Promise<unknown>) =>
  added.then(
    () => undefined,
    (reason: unknown) => reason,
  );
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a batcher", () => {
  test("shows what has no result yet: its batches, and the first item that waits for the next", async () => {
    const { batcher, release } = recorded({ isHeld: true });
    expect([...batcher.pending()]).toEqual([]);
    const first = Promise.all([1, 2].map(batcher.add));
    await nextTurn();
    const second = Promise.all([3, 4].map(batcher.add));
    expect([...batcher.pending()]).toEqual([1, 2, 3]);
    release();
    await first;
    expect([...batcher.pending()]).toEqual([3, 4]);
    release();
    await second;
    expect([...batcher.pending()]).toEqual([]);
  });

  test("keeps items together in one batch, in their order, also beyond its limit", async () => {
    const { batcher, batches } = recorded({ maxBatch: 3 });
    const results = [batcher.add(1), ...batcher.addTogether([2, 3, 4]), batcher.add(5), ...batcher.addTogether([])];
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((item) => `result ${item}`));
    expect(batches).toEqual([[1, 2, 3, 4], [5]]);
  });

  test("refuses all of those that go together if there is no room", async () => {
    const { batcher, batches } = recorded({ weights: { of: () => 10, maxBatch: 100, maxWaiting: 35 } });
    const first = batcher.add(1);
    const refusals = await Promise.all(batcher.addTogether([2, 3, 4]).map(refusalOf));
    expect(refusals).toEqual([full(), full(), full()]);
    await Promise.all([first, ...batcher.addTogether([5, 6])]);
    expect(batches.flat()).toEqual([1, 5, 6]);
  });

  test("returns each item's own result, in batches that keep the order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer(), { maxLength: 50 }),
        fc.integer({ min: 1, max: 7 }),
        fc.option(fc.record({ depth: fc.integer({ min: 1, max: 3 }), from: fc.integer({ min: 1, max: 9 }) }), {
          nil: undefined,
        }),
        async (items, maxBatch, overlap) => {
          const { batcher, batches } = recorded({ maxBatch, overlap });
          const results = await Promise.all(items.map((item) => batcher.add(item)));
          expect(results).toEqual(items.map((item) => `result ${item}`));
          expect(batches.flat()).toEqual(items);
          for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(maxBatch);
        },
      ),
    );
  });

  test("batches items that arrive in one turn, and those that arrive meanwhile into the next batch", async () => {
    const { batcher, batches, release } = recorded({ isHeld: true });
    const first = [batcher.add(1), batcher.add(2)];
    await nextTurn();
    const second = [batcher.add(3), batcher.add(4)];
    await nextTurn();
    expect(batches).toEqual([[1, 2]]);
    release();
    await Promise.all(first);
    await nextTurn();
    release();
    await Promise.all(second);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("passes on an outcome that is a failure like any other", async () => {
    const batcher = createBatcher<number, { value: number } | { error: string }>({
      maxBatch: 10,
      maxWaiting: 10,
      whenFull: full,
      flush: async (items) => items.map((item) => (item === 2 ? { error: "two" } : { value: item })),
    });
    expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([
      { value: 1 },
      { error: "two" },
      { value: 3 },
    ]);
  });

  const disk = new Error("disk");
  test.each([
    ["rejects", disk, () => Promise.reject(disk)],
    [
      "throws",
      disk,
      () => {
        throw disk;
      },
    ],
    ["gives too few results", new Error("1 results for 2 items"), () => Promise.resolve([1])],
  ])("fails a whole batch whose flush %s, and continues with the next", async (_, reason, fail) => {
    let isBroken = true;
    const batcher = createBatcher<number, number>({
      maxBatch: 2,
      maxWaiting: 10,
      whenFull: full,
      flush: (items) => (isBroken ? fail() : Promise.resolve(items)),
    });
    const broken = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
    expect(broken).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    isBroken = false;
    expect(await batcher.add(3)).toBe(3);
  });

  test("refuses more items than may wait, and accepts some again once there is room", async () => {
    const { batcher, batches, release } = recorded({ maxBatch: 2, maxWaiting: 3, isHeld: true });
    const accepted = [1, 2, 3].map((item) => batcher.add(item));
    expect(await refusalOf(batcher.add(4))).toEqual(full());
    await nextTurn();
    accepted.push(batcher.add(5), batcher.add(6));
    expect(await refusalOf(batcher.add(7))).toEqual(full());
    while (batches.flat().length < 5) {
      release();
      await nextTurn();
    }
    release();
    await Promise.all(accepted);
    expect(batches).toEqual([[1, 2], [3, 5], [6]]);
  });

  test("limits the weight of a batch, but lets a heavier item go alone", async () => {
    const weights = { of: (item: number) => item, maxBatch: 10, maxWaiting: 1_000 };
    const { batcher, batches } = recorded({ weights });
    await Promise.all([4, 6, 1, 10, 11, 0, 2, 30, 9, 2].map((item) => batcher.add(item)));
    expect(batches).toEqual([[4, 6], [1], [10], [11], [0, 2], [30], [9], [2]]);
  });

  test("refuses an item too heavy to wait, accepts a lighter one, and accepts all again once there is room", async () => {
    const weights = { of: (item: number) => item, maxBatch: 10, maxWaiting: 20 };
    const { batcher, batches, release } = recorded({ weights, isHeld: true });
    const accepted = [batcher.add(12), batcher.add(8)];
    expect(await refusalOf(batcher.add(1))).toEqual(full());
    accepted.push(batcher.add(0));
    await nextTurn();
    expect(batches).toEqual([[12]]);
    expect(await refusalOf(batcher.add(13))).toEqual(full());
    accepted.push(batcher.add(12));
    while (batches.length < 3) {
      release();
      await nextTurn();
    }
    accepted.push(batcher.add(99)); // nothing waits
    release();
    await nextTurn();
    release();
    await Promise.all(accepted);
    expect(batches).toEqual([[12], [8, 0], [12], [99]]);
  });

  test("begins the next batch before anyone learns of the last one", async () => {
    const { batcher, batches, release } = recorded({ isHeld: true });
    const first = batcher.add(1).then(() => structuredClone(batches));
    await nextTurn();
    const second = batcher.add(2);
    release();
    expect(await first).toEqual([[1], [2]]);
    release();
    await second;
  });

  test("with a pipeline, begins a large enough batch at once beside the one in progress, up to the depth", async () => {
    const { batcher, batches, release } = recorded({ isHeld: true, overlap: { depth: 2, from: 3 } });
    const added = [1, 2, 3].map((item) => batcher.add(item));
    expect(batches).toEqual([[1, 2, 3]]);
    added.push(...[4, 5].map((item) => batcher.add(item)));
    await nextTurn();
    expect(batches).toEqual([[1, 2, 3]]);
    added.push(...[6, 7, 8, 9, 10].map((item) => batcher.add(item)));
    await nextTurn();
    expect(batches.slice(1)).toEqual([[4, 5, 6]]);
    release();
    expect(await added[0]).toBe("result 1");
    expect(batches.slice(2)).toEqual([[7, 8, 9, 10]]);
    release();
    release();
    expect(await Promise.all(added)).toEqual(added.map((_, index) => `result ${index + 1}`));
  });

  test("with a pipeline, lets a few items wait for the end of the turn, or of everything in progress", async () => {
    const { batcher, batches, release } = recorded({ isHeld: true, overlap: { depth: 2, from: 3 } });
    const first = batcher.add(1);
    expect(batches).toEqual([]);
    await nextTurn();
    expect(batches).toEqual([[1]]);
    const second = batcher.add(2);
    await nextTurn();
    expect(batches).toEqual([[1]]);
    release();
    await first;
    expect(batches).toEqual([[1], [2]]);
    release();
    await second;
  });

  test("knows at the end of a batch whether more is about to end", async () => {
    const ends: [number, boolean][] = [];
    const held: (() => void)[] = [];
    const batcher = createBatcher<number, number>({
      maxBatch: 2,
      maxWaiting: 10,
      whenFull: full,
      overlap: { depth: 2, from: 2 },
      async flush(items) {
        await new Promise<void>((resolve) => held.push(resolve));
        ends.push([items.length, batcher.hasMore()]);
        return items;
      },
    });
    const added = [1, 2, 3, 4, 5].map((item) => batcher.add(item));
    for (let batch = 0; batch < 3; batch++) {
      held[batch]?.();
      await nextTurn();
    }
    await Promise.all(added);
    expect(ends).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
  });

  describe("with keys", () => {
    type Item = { org: string; weight: number };

    function setUp(options: { maxBatch: number; maxWaiting: number; weights?: Weights<Item> }) {
      const batches: string[][] = [];
      const held: (() => void)[] = [];
      const batcher = createBatcher<Item, string>({
        ...options,
        keyOf: ({ org }) => org,
        whenFull: full,
        async flush(items) {
          batches.push(items.map(({ org }) => org));
          await new Promise<void>((resolve) => held.push(resolve));
          return items.map(({ org }) => org);
        },
      });
      const add = (org: string, count = 1, weight = 0) =>
        Array.from({ length: count }, () => batcher.add({ org, weight }));
      async function releaseAll(added: Promise<unknown>[]) {
        let isOver = false;
        const settled = Promise.allSettled(added).then((results) => {
          isOver = true;
          return results;
        });
        while (!isOver) {
          held.shift()?.();
          await nextTurn();
        }
        return await settled;
      }
      return { add, batches, releaseAll };
    }

    test("makes one item wait for one batch at most, whatever another key has waiting", async () => {
      const { add, batches, releaseAll } = setUp({ maxBatch: 100, maxWaiting: 10_000 });
      const greedy = add("greedy", 1_000);
      await nextTurn();
      const single = add("single");
      await releaseAll([...greedy, ...single]);
      expect(batches.slice(0, 2).map((batch) => batch.includes("single"))).toEqual([false, true]);
      expect(batches.flat()).toHaveLength(1_001);
    });

    test("gives heavy senders equal shares of a batch, by number and by weight", async () => {
      const { add, batches, releaseAll } = setUp({ maxBatch: 100, maxWaiting: 10_000 });
      await releaseAll([...add("a", 500), ...add("b", 500)]);
      for (const batch of batches) expect(batch.filter((org) => org === "a")).toHaveLength(50);

      const weights = { of: ({ weight }: Item) => weight, maxBatch: 128_000, maxWaiting: Infinity };
      const weighed = setUp({ maxBatch: 1_000, maxWaiting: 10_000, weights });
      await weighed.releaseAll([...weighed.add("heavy", 20, 9_999), ...weighed.add("light", 2_000, 10)]);
      const first = weighed.batches[0] ?? [];
      expect(first.filter((org) => org === "heavy").length).toBeWithin(1, 4);
      expect(first.filter((org) => org === "light").length).toBeGreaterThan(900);
    });

    test("refuses the key with most waiting, and never another's first item", async () => {
      const { add, releaseAll } = setUp({ maxBatch: 10, maxWaiting: 100 });
      const greedy = add("greedy", 200);
      const others = Array.from({ length: 9 }, (_, index) => add(`other ${index}`)).flat();
      const results = await releaseAll(greedy);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(80);
      expect((await releaseAll(others)).map(({ status }) => status)).toEqual(others.map(() => "fulfilled"));
    });
  });
});
