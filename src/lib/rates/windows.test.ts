import { expect, test } from "bun:test";
import { createWindows } from "./windows.ts";

/** Opens calls until the window is full, and returns how many there were. */
function fill(windows: ReturnType<typeof createWindows>, name: string): number {
  let opened = 0;
  for (; !windows.isFull(name); opened++) windows.open(name);
  return opened;
}

test("a window grows with small calls, up to its maximum, and a large one makes it narrow again", () => {
  const windows = createWindows({ least: 2, most: 4 });
  expect(fill(windows, "a")).toBe(2);
  windows.close("a", false);
  expect(fill(windows, "a")).toBe(2); // three in flight
  for (let count = 0; count < 5; count++) {
    windows.close("a", false);
    fill(windows, "a");
  }
  for (let count = 0; count < 3; count++) windows.close("a", true);
  expect(fill(windows, "a")).toBe(1); // two in flight
});

test("each name has a window of its own, and is forgotten when nothing of it is in flight", () => {
  const windows = createWindows({ least: 1, most: 3 });
  windows.open("a");
  expect([windows.isFull("a"), windows.isFull("b")]).toEqual([true, false]);
  windows.close("a", false);
  expect(fill(windows, "a")).toBe(1);
});
