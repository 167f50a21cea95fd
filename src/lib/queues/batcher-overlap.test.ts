import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nextTurn } from "../event-loop/next-turn.ts";
import { createBatcher } from "./batcher.ts";

const full = () => new Error("full");
const keyOf = (item: string) => item.charAt(0);

describe("a batcher whose batches overlap by key", () => {
  test("runs batches of different keys at once, and keeps the order of each", async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const batcher = createBatcher<string, string>({
      maxBatch: 2,
      maxWaiting: 100,
      keyOf,
      overlap: { depth: 2, byKey: true },
      whenFull: full,
      async flush(items) {
        begun.push(items.join(" "));
        await new Promise<void>((resolve) => ends.push(resolve));
        return items;
      },
    });
    const added = "a1 a2 a3".split(" ").map(batcher.add);
    await nextTurn();
    expect(begun).toEqual(["a1 a2"]); // what follows of `a` waits for it
    added.push(...["b1", "c1", "a4", "c2"].map(batcher.add));
    await nextTurn();
    expect(begun).toEqual(["a1 a2", "b1 c1"]);
    ends[0]?.();
    await added[0];
    expect(begun).toEqual(["a1 a2", "b1 c1", "a3 a4"]);
    ends[1]?.();
    await added[3];
    expect(begun).toEqual(["a1 a2", "b1 c1", "a3 a4", "c2"]);
    for (const end of ends) end();
    await Promise.all(added);
  });

  test("has one batch of a key at a time, in order, and lets no key wait for another's while there is room", async () => {
    const depth = 2;
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ add: fc.constantFrom("a", "b", "c", "d") }) },
      fc.record({ end: fc.nat(depth - 1) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const underWay: { keys: string[]; end(): void }[] = [];
        const [asked, begun, results]: [string[], string[], Promise<string>[]] = [[], [], []];
        const batcher = createBatcher<string, string>({
          maxBatch: 3,
          maxWaiting: 100,
          keyOf,
          overlap: { depth, byKey: true },
          whenFull: full,
          async flush(items) {
            const { promise, resolve } = Promise.withResolvers<void>();
            const batch = { keys: items.map(keyOf), end: resolve };
            expect(underWay.flatMap(({ keys }) => keys).filter((key) => batch.keys.includes(key))).toEqual([]);
            underWay.push(batch);
            expect(underWay.length).toBeLessThanOrEqual(depth);
            begun.push(...items);
            await promise;
            underWay.splice(underWay.indexOf(batch), 1);
            return items;
          },
        });

        for (const [index, one] of steps.entries()) {
          if ("add" in one) {
            asked.push(`${one.add}${index}`);
            results.push(batcher.add(`${one.add}${index}`));
          } else {
            underWay[one.end]?.end();
          }
          await nextTurn();
          const held = underWay.flatMap(({ keys }) => keys);
          const waiting = asked.filter((item) => !begun.includes(item) && !held.includes(keyOf(item)));
          expect(underWay.length === depth || waiting.length === 0).toBe(true);
        }
        for (; underWay.length > 0; await nextTurn()) underWay[0]?.end();
        expect(await Promise.all(results)).toEqual(asked);
        for (const key of "abcd") {
          const of = (items: string[]) => items.filter((item) => keyOf(item) === key);
          expect(of(begun)).toEqual(of(asked));
        }
      }),
    );
  });
});
