import { expect, test } from "bun:test";
import { createSparing } from "./sparing.ts";

test("of each kind there is one line a minute, with the number of those left out", () => {
  const time = { now: 0 };
  const told: unknown[] = [];
  const note = createSparing({ tell: ({ of }, before) => told.push([of, before]), clock: { now: () => time.now } });
  for (let count = 0; count < 5; count++) note("a", { of: "a" });
  note("b", { of: "b" });
  time.now += 60_000;
  note("a", { of: "a" });
  for (let count = 0; count < 1_000; count++) note(`kind ${count}`, { of: "more" });
  expect(told.slice(0, 3)).toEqual([
    ["a", 0],
    ["b", 0],
    ["a", 4],
  ]);
  const toldInMinute = 3 + 63 + 1; // `b` is forgotten, and the last line is for all further kinds
  expect(told).toHaveLength(toldInMinute);
  for (let count = 0; count < 1_000; count++) note(`kind ${count}`, { of: "more" });
  expect(told).toHaveLength(toldInMinute);
  time.now += 60_000;
  note("new", { of: "new" });
  for (let count = 0; count < 5; count++) note("newer", { of: "newer" });
  expect(told.slice(toldInMinute)).toEqual([
    ["new", 0],
    ["newer", 0],
  ]);
});
