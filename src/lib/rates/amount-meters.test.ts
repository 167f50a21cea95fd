import { expect, test } from "bun:test";
import { createMeters } from "./amount.ts";

test("a meter shows the amount of the last whole second, and forgets it after that", () => {
  const time = { now: 10_000 };
  const meters = createMeters({ clock: { now: () => time.now }, maxNames: 2 });
  expect(meters.of("a")).toBe(0);
  meters.note("a");
  meters.note("a", 4);
  expect(meters.of("a")).toBe(0);
  time.now = 11_999;
  expect(meters.of("a")).toBe(5);
  meters.note("a");
  time.now = 12_000;
  expect(meters.of("a")).toBe(1);
  time.now = 14_000;
  expect(meters.of("a")).toBe(0);
});

test("the number of meters is bounded, and the latest are kept", () => {
  const time = { now: 1_000 };
  const meters = createMeters({ clock: { now: () => time.now }, maxNames: 2 });
  for (const name of ["a", "b", "b", "c"]) meters.note(name);
  time.now = 2_000;
  expect(["a", "b", "c"].map(meters.of)).toEqual([0, 2, 1]);
});
