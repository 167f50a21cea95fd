import { expect, test } from "bun:test";
import { createSeen } from "./seen.ts";

test("a name is new once, and again once it was forgotten for later ones", () => {
  const { isNew } = createSeen(2);
  expect(["a", "a", "b", "a", "c", "b", "a"].map(isNew)).toEqual([true, false, true, false, true, false, true]);
});
