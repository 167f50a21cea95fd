import { expect, test } from "bun:test";
import { forgetOldest } from "./forget-oldest.ts";

test("no more than so many are kept: who was put first goes first, and nobody while there is room", () => {
  const kept = new Set<number>();
  for (let number = 0; number < 5; number++) {
    kept.add(number);
    forgetOldest(kept, 3);
    expect(kept.size).toBe(Math.min(number + 1, 3));
  }
  expect([...kept]).toEqual([2, 3, 4]);
});

test("who is put again stays where it was, unless it was taken out before", () => {
  const kept = new Map([
    ["a", 1],
    ["b", 1],
    ["c", 1],
  ]);
  kept.set("a", 2);
  kept.delete("b");
  kept.set("b", 2);
  forgetOldest(kept, 2);
  expect([...kept.keys()]).toEqual(["c", "b"]);
});
