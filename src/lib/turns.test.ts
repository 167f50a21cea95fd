import { expect, test } from "bun:test";
import { createTurns } from "./turns.ts";

test("what is for many has every second turn, the rest take turns by what they are of", () => {
  const turns = createTurns<string>();
  for (const item of ["s1", "s2", "s3"]) turns.add("shared", item);
  for (const item of ["a1", "a2", "a3", "b1"]) turns.add({ of: item.charAt(0) }, item);
  const leave = turns.add({ of: "b" }, "b2");
  leave();
  expect(turns.size).toBe(7);
  const taken = Array.from({ length: 8 }, () => turns.take());
  expect(taken).toEqual(["s1", "a1", "s2", "b1", "s3", "a2", "a3", undefined]);
});
