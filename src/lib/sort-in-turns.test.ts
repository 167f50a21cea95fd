import { expect, test } from "bun:test";
import fc from "fast-check";
import { sortInTurns } from "./sort-in-turns.ts";

test("sorts as the runtime does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string(), { maxLength: 50 }), async (texts) => {
      expect(await sortInTurns(texts)).toEqual(texts.toSorted());
    }),
  );
  const many = Array.from({ length: 30_001 }, () => crypto.randomUUID());
  expect(await sortInTurns(new Set(many))).toEqual(many.toSorted());
});

test("lets the event loop turn", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await sortInTurns(Array.from({ length: 100_000 }, () => crypto.randomUUID()));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
});
