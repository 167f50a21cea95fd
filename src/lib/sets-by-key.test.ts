import { expect, test } from "bun:test";
import { createSetsByKey } from "./sets-by-key.ts";

test("values are kept by key, each once, and a key without any is forgotten", () => {
  const sets = createSetsByKey<string, number>();
  sets.add("a", 1);
  sets.add("a", 1);
  sets.add("a", 2);
  sets.add("b", 1);
  expect([...(sets.of("a") ?? [])]).toEqual([1, 2]);
  expect(sets.size).toBe(2);
  sets.remove("a", 1);
  sets.remove("a", 3);
  sets.remove("c", 1);
  expect([...(sets.of("a") ?? [])]).toEqual([2]);
  sets.remove("a", 2);
  expect(sets.of("a")).toBeUndefined();
  expect(sets.size).toBe(1);
});
