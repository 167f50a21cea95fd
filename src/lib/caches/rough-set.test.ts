import { expect, test } from "bun:test";
import { createRoughSet } from "./rough-set.ts";

test("a rough set has all that were added, and few others", () => {
  const set = createRoughSet();
  const texts = (name: string) => Array.from({ length: 10_000 }, (_, index) => `${name} ${index}`);
  for (const text of texts("added")) set.add(text);
  expect(texts("added").every(set.mayHave)).toBe(true);
  expect(texts("another").filter(set.mayHave).length).toBeLessThan(300);
});
