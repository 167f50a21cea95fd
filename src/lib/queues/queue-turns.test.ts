import { expect, test } from "bun:test";
import { createTurns } from "./queue.ts";

function filled() {
  const turns = createTurns<string>();
  for (const item of ["s1", "s2", "s3"]) turns.add("batch", item);
  for (const item of ["a1", "a2", "a3", "b1"]) turns.add({ of: item.charAt(0) }, item);
  return turns;
}

test("batches have every second turn, and other work takes turns by its owner", () => {
  const turns = filled();
  const taken = Array.from({ length: 8 }, () => turns.take());
  expect(taken).toEqual(["s1", "a1", "s2", "b1", "s3", "a2", "a3", undefined]);
  expect([turns.size, turns.oldest]).toEqual([0, undefined]);
});

test("the item that has waited longest can be taken out of turn", () => {
  const turns = filled();
  expect(turns.take()).toBe("s1");
  expect(turns.oldest).toBe("s2");
  expect([turns.takeOldest(), turns.takeOldest(), turns.takeOldest()]).toEqual(["s2", "s3", "a1"]);
  expect([turns.take(), turns.take(), turns.size]).toEqual(["a2", "b1", 1]);
});
