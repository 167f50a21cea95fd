import { expect, test } from "bun:test";
import { forgetOldest } from "./forget-oldest.ts";

test("a bounded number is kept: the oldest goes first, and none while there is room", () => {
  const kept = new Set<number>();
  for (let number = 0; number < 5; number++) {
    kept.add(number);
    forgetOldest(kept, 3);
    expect(kept.size).toBe(Math.min(number + 1, 3));
  }
  expect([...kept]).toEqual([2, 3, 4]);
});

test("an entry put again keeps its place, unless it was removed before", () => {
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
