import { expect, test } from "bun:test";
import { createGuard } from "./guard.ts";

test("errors of the work are reported at intervals, and disturb nobody", () => {
  const errors: unknown[] = [];
  const guard = createGuard((error) => errors.push(error));
  const done: number[] = [];
  for (const number of [1, 2, 3])
    guard(() => {
      if (number < 3) throw new Error(`${number}`);
      done.push(number);
    });
  expect(done).toEqual([3]);
  expect(errors.map(String)).toEqual(["Error: 1"]);
});
