import { expect, test } from "bun:test";
import { pathBelow } from "./base-path.ts";

test.each([
  ["/herald/ws", "/ws"],
  ["/herald", "/"],
  ["/herald/", "/"],
  ["/ws", "/ws"],
  ["/", "/"],
  ["/heralds/ws", "/heralds/ws"],
  ["/herald//ws", "//ws"],
  ["/herald/herald/ws", "/herald/ws"],
  ["/HERALD/ws", "/HERALD/ws"],
])("%s below /herald is %s", (path, below) => {
  expect(pathBelow("/herald", path)).toBe(below);
});

test("without a base path, every path stays as it is", () => {
  for (const path of ["/", "/ws", "//ws"]) expect(pathBelow("", path)).toBe(path);
});
