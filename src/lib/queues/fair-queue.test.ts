import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFairQueue } from "./fair-queue.ts";

function drain<Item>(queue: { take(): Item | undefined }): Item[] {
  const items: Item[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

/** Fills a queue as named by `text`: `a1 a2 b1` are two items of `a` and one of `b`. */
function filled(text: string, options?: Parameters<typeof createFairQueue>[0]) {
  const queue = createFairQueue<string>(options);
  for (const item of text.split(" ")) queue.add(item.charAt(0), item);
  return queue;
}

describe("a fair queue", () => {
  test("lets keys take turns, and keeps each key's order", () => {
    expect(drain(filled("a1 a2 a3 a4 b1 c1 c2"))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", "a4"]);
  });

  test("serves a late key right after one item of each of the others", () => {
    const queue = filled("a1 a2 a3 b1 b2 b3");
    expect([queue.take(), queue.take()]).toEqual(["a1", "b1"]);
    queue.add("c", "c1");
    expect(drain(queue)).toEqual(["a2", "b2", "c1", "a3", "b3"]);
  });

  test("shows the first item of each key", () => {
    const queue = filled("a1 a2 b1 c1 c2");
    expect([...queue.firsts()]).toEqual(["a1", "b1", "c1"]);
    for (let taken = 0; taken < 3; taken++) queue.take();
    expect([...queue.firsts()]).toEqual(["a2", "c2"]);
    drain(queue);
    expect([...queue.firsts()]).toEqual([]);
  });

  test("returns every item once, and gives no key two turns while another waits", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 }), (keys) => {
        const queue = createFairQueue<{ key: string; index: number }>();
        for (const [index, key] of keys.entries()) queue.add(key, { key, index });
        const taken = drain(queue);
        for (const key of new Set(keys)) {
          const indexes = keys.flatMap((other, index) => (other === key ? [index] : []));
          expect(taken.filter((item) => item.key === key).map(({ index }) => index)).toEqual(indexes);
          const last = taken.findLastIndex((item) => item.key === key);
          for (const other of new Set(keys)) {
            const before = taken.slice(0, last).filter((item) => item.key === other).length;
            expect(before).toBeLessThanOrEqual(indexes.length);
          }
        }
        expect([queue.size, queue.weight]).toEqual([0, 0]);
      }),
    );
  });

  test("makes a key skip turns according to its weight", () => {
    const queue = createFairQueue<string>({ weightPerTurn: 10 });
    for (const item of ["a1", "a2"]) queue.add("a", item, { weight: 25 });
    for (const item of ["b1", "b2", "b3", "b4"]) queue.add("b", item, { weight: 1 });
    expect(drain(queue)).toEqual(["a1", "b1", "b2", "b3", "b4", "a2"]);
  });

  test("counts an item without weight as one, so that others have their turns", () => {
    const queue = createFairQueue<string>({ weightPerTurn: 3 });
    for (let count = 0; count < 10; count++) queue.add("a", "a");
    queue.add("b", "b");
    expect(drain(queue).indexOf("b")).toBe(3);
  });

  test("lets the parts of a key take turns within its own", () => {
    const queue = createFairQueue<string>();
    for (const item of ["x1", "x2", "x3", "y1"]) queue.add("a", item, { part: item.charAt(0) });
    queue.add("b", "b1");
    expect([...queue.firsts()]).toEqual(["x1", "y1", "b1"]);
    expect(drain(queue)).toEqual(["x1", "b1", "y1", "x2", "x3"]);
  });

  test.each([
    ["key", (item: string) => [item, ""] as const],
    ["part of a key", (item: string) => ["o", item] as const],
  ])("lets a %s that has one item at a time take no more than its share", (_, placeOf) => {
    const queue = createFairQueue<string>({ weightPerTurn: 10 });
    const add = (item: string, weight: number) => {
      const [key, part] = placeOf(item);
      queue.add(key, item, { weight, part });
    };
    for (let count = 0; count < 300; count++) add("light", 1);
    add("heavy", 50);
    let heavy = 0;
    for (let taken = 0; taken < 200; taken++) {
      if (queue.take() !== "heavy") continue;
      heavy++;
      add("heavy", 50);
    }
    expect(heavy).toBeWithin(3, 6); // one for every 50 light ones
  });

  test("gives keys the same weight in the long run, whatever the weight of their items", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 40, maxLength: 80 });
    fc.assert(
      fc.property(fc.array(weights, { minLength: 2, maxLength: 5 }), (keys) => {
        const queue = createFairQueue<{ key: string; weight: number }>({ weightPerTurn: 25 });
        for (const [index, items] of keys.entries())
          for (const weight of items) queue.add(`${index}`, { key: `${index}`, weight }, { weight });
        const taken = new Map(keys.map((_, index) => [`${index}`, 0]));
        const left = keys.map(({ length }) => length);
        while (left.every((count) => count > 0)) {
          const item = queue.take();
          if (item === undefined) throw new Error("items wait, and none is taken");
          taken.set(item.key, (taken.get(item.key) ?? 0) + item.weight);
          left[Number(item.key)] = (left[Number(item.key)] ?? 0) - 1;
          const amounts = [...taken.values()];
          expect(Math.max(...amounts) - Math.min(...amounts)).toBeLessThanOrEqual(2 * 400);
        }
      }),
    );
  });

  test("leaves an item that does not fit in place", () => {
    const queue = createFairQueue<string>();
    queue.add("a", "heavy", { weight: 5 });
    queue.add("b", "light", { weight: 1 });
    expect(queue.take({ fits: (weight) => weight < 5 })).toBeUndefined();
    expect([queue.size, queue.weight]).toEqual([2, 6]);
    expect(drain(queue)).toEqual(["heavy", "light"]);
  });

  test("passes over keys that are held, which keep their items", () => {
    const queue = filled("a1 a2 b1 b2");
    const isHeld = (key: string) => key === "a";
    expect([queue.take({ isHeld }), queue.take({ isHeld }), queue.take({ isHeld })]).toEqual(["b1", "b2", undefined]);
    expect(drain(queue)).toEqual(["a1", "a2"]);
  });

  test("passes over held keys while others skip turns", () => {
    const queue = createFairQueue<string>({ weightPerTurn: 10 });
    for (const item of ["a1", "a2"]) queue.add("a", item, { weight: 55 });
    for (const key of ["b", "c"]) queue.add(key, key);
    const isHeld = (key: string) => key !== "a";
    expect([queue.take({ isHeld }), queue.take({ isHeld })]).toEqual(["a1", "a2"]);
  });

  test("forgets removed items, and a key once nothing waits under it", () => {
    const queue = filled("a1 a2 b1");
    const link = queue.add("c", "c1", { weight: 7 });
    const second = queue.add("a", "a3");
    queue.remove(link);
    queue.remove(second);
    expect([queue.size, queue.weight]).toEqual([3, 0]);
    expect(drain(queue)).toEqual(["a1", "b1", "a2"]);
  });

  test("has room for a new key whatever another has waiting", () => {
    const queue = createFairQueue<number>({ maxItems: 100, share: 4 });
    let accepted = 0;
    for (; queue.hasRoom("greedy"); accepted++) queue.add("greedy", accepted);
    expect(accepted).toBe(80);
    expect(queue.hasRoom("other")).toBe(true);
    for (; queue.hasRoom("other"); accepted++) queue.add("other", accepted);
    expect(accepted).toBe(96);
    expect(queue.hasRoom("third")).toBe(true);
  });

  test("limits room by weight like by number", () => {
    const queue = createFairQueue<string>({ maxWeight: 100, share: 4 });
    expect(queue.hasRoom("greedy", 1_000)).toBe(true); // nothing waits
    queue.add("greedy", "first", { weight: 60 });
    expect(queue.hasRoom("greedy", 41)).toBe(false);
    expect(queue.hasRoom("greedy", 30)).toBe(true);
    queue.add("greedy", "second", { weight: 30 });
    expect(queue.hasRoom("greedy", 1)).toBe(false);
    expect(queue.hasRoom("other", 10)).toBe(true);
    expect(queue.hasRoom("other", 11)).toBe(false);
  });
});
