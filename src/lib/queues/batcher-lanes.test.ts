import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createBatcher } from "./batcher.ts";

const lanes = {
  maxOfKey: { items: 2, weight: 10 },
  maxWaiting: 1_000,
  keyOf: (item: string) => item.charAt(0),
  overlap: "lanes",
  whenFull: () => new Error("full"),
} as const;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a batcher with lanes", () => {
  function setUp() {
    const underWay = new Map<string, () => void>();
    const begun: string[] = [];
    const time = { now: 0 };
    const batcher = createBatcher<string, undefined>({
      ...lanes,
      maxBatch: 100,
      now: () => time.now,
      async flush(items) {
        const name = items.join(" ");
        begun.push(name);
        await new Promise<void>((resolve) => underWay.set(name, resolve));
        underWay.delete(name);
        return items.map(() => undefined);
      },
    });
    /** Ends a batch, and lets what follows begin. */
    async function end(name: string) {
      underWay.get(name)?.();
      await nextTurn();
    }
    async function endAll() {
      while (underWay.size > 0) for (const name of [...underWay.keys()]) await end(name);
    }
    const add = (items: string) => Promise.all(items.split(" ").map(batcher.add));
    return { add, begun, time, underWay: () => [...underWay.keys()], end, endAll };
  }

  test("keys with more waiting than a batch takes of one do not delay the others, nor these them", async () => {
    const { add, begun, underWay, end, endAll } = setUp();
    const all = [add("a1 a2 a3 a4 a5"), add("b1")];
    await nextTurn();
    expect(underWay()).toEqual(["b1", "a1 a2"]);
    all.push(add("b2 c1"));
    await end("b1");
    expect(underWay()).toEqual(["a1 a2", "b2 c1"]);
    await end("a1 a2");
    expect(underWay()).toEqual(["b2 c1", "a3 a4"]);
    await endAll();
    await Promise.all(all);
    expect(begun).toEqual(["b1", "a1 a2", "b2 c1", "a3 a4", "a5"]);
  });

  test("no key is in two batches at a time, whether more or less of it waits than before", async () => {
    const { add, time, underWay, end, endAll } = setUp();
    const all = [add("a1 a2 a3 a4"), add("b1")];
    await nextTurn();
    all.push(add("b2 b3 b4"));
    await nextTurn();
    expect(underWay()).toEqual(["b1", "a1 a2"]);
    await end("b1"); // which was light, and the other lane is not free
    expect(underWay()).toEqual(["a1 a2"]);
    time.now = 600;
    await end("a1 a2"); // of what was heavy long ago, the rest is light
    expect(underWay()).toEqual(["a3 a4", "b2 b3"]);
    await endAll();
    await Promise.all(all);
  });

  test("a key that had much lately stays beside the others, even if little of it waits", async () => {
    const { add, time, underWay, end, endAll } = setUp();
    const all = [add("a1 a2 a3"), add("b1")];
    await nextTurn();
    expect(underWay()).toEqual(["b1", "a1 a2"]);
    await endAll();
    all.push(add("a4"), add("b2"));
    await nextTurn();
    expect(underWay()).toEqual(["b2", "a4"]);
    await endAll();
    time.now = 600;
    all.push(add("a5"), add("b3"));
    await nextTurn();
    expect(underWay()).toEqual(["a5 b3"]);
    await end("a5 b3");
    await Promise.all(all);
  });

  test("a key that waits alone takes whole batches, until another arrives beside it", async () => {
    const { add, underWay, end, endAll } = setUp();
    const all = [add("a1 a2 a3 a4 a5")];
    await nextTurn();
    expect(underWay()).toEqual(["a1 a2 a3 a4 a5"]);
    all.push(add("a6 a7 a8"), add("b1"));
    await nextTurn();
    expect(underWay()).toEqual(["a1 a2 a3 a4 a5", "b1"]);
    await end("a1 a2 a3 a4 a5");
    expect(underWay()).toEqual(["b1", "a6 a7"]);
    await endAll();
    await Promise.all(all);
  });

  test("gives everyone's result, in the order of each key, whatever arrives when", async () => {
    const arrivals = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat({ max: 5 })), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(arrivals, fc.infiniteStream(fc.nat({ max: 3 })), async (items, pauses) => {
        const stored: string[] = [];
        const keysUnderWay = new Set<string>();
        const batcher = createBatcher<string, string>({
          ...lanes,
          maxBatch: 6,
          async flush(batch) {
            const keys = new Set(batch.map((item) => item.charAt(0)));
            expect(keysUnderWay.isDisjointFrom(keys)).toBe(true);
            for (const key of keys) keysUnderWay.add(key);
            for (let pause = pauses.next().value; pause > 0; pause--) await nextTurn();
            stored.push(...batch);
            for (const key of keys) keysUnderWay.delete(key);
            return batch;
          },
        });
        const names = items.map(([key], index) => `${key}${index}`);
        const added: Promise<string>[] = [];
        for (const [index, name] of names.entries()) {
          added.push(batcher.add(name));
          if (items[index]?.[1] === 0) await nextTurn();
        }
        expect(await Promise.all(added)).toEqual(names);
        const of = (key: string) => (name: string) => name.startsWith(key);
        for (const key of ["a", "b", "c"]) expect(stored.filter(of(key))).toEqual(names.filter(of(key)));
      }),
    );
  });
});
