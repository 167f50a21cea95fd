import { expect, test } from "bun:test";
import fc from "fast-check";
import { isAmongSorted, sortInTurns } from "./sort-in-turns.ts";

test("sorts like the runtime and removes duplicates", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 2 }), { maxLength: 50 }), async (texts) => {
      expect(await sortInTurns(texts)).toEqual([...new Set(texts)].sort());
    }),
  );
  const many = Array.from({ length: 30_001 }, () => crypto.randomUUID());
  expect(await sortInTurns([...many, ...many.slice(0, 5_000)])).toEqual(many.toSorted());
});

test("finds texts in the sorted list", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 2 })), fc.string({ maxLength: 2 }), async (texts, text) => {
      const sorted = await sortInTurns(texts);
      for (const each of [...texts, text]) expect(isAmongSorted(sorted, each)).toBe(texts.includes(each));
    }),
  );
});

test("sorts 2,000 texts at once, and 100,000 in many turns", async () => {
  const turnsFor = async (count: number) => {
    let turns = 0;
    const texts = Array.from({ length: count }, () => crypto.randomUUID());
    await sortInTurns(texts, async () => {
      turns++;
    });
    return turns;
  };
  expect(await turnsFor(2_000)).toBe(0);
  expect(await turnsFor(100_000)).toBeGreaterThan(10);
});
