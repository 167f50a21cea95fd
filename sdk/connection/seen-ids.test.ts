import { expect, test } from "bun:test";
import { createSeenIds } from "./seen-ids.ts";

test("an id is new once", () => {
  const seen = createSeenIds(10);
  expect([seen.add("a"), seen.add("a"), seen.add("b")]).toEqual([true, false, true]);
});

test("memory is bounded: the oldest id is forgotten first", () => {
  const seen = createSeenIds(2);
  for (let index = 0; index < 10_000; index += 1) seen.add(String(index));
  expect(seen.size).toBe(2);
  expect([seen.add("9999"), seen.add("9998"), seen.add("9997")]).toEqual([false, false, true]);
});
