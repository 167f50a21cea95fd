import { expect, test } from "bun:test";
import { createDatabaseClock } from "./database-clock.ts";

test("shows this machine's time until it is compared, and then the database's", () => {
  let time = 10_000;
  const clock = createDatabaseClock({ now: () => time });
  expect(clock.now()).toBe(10_000);
  clock.compare({ offsetMs: 3_000 });
  time += 500;
  expect(clock.now()).toBe(7_500);
  clock.compare({ offsetMs: -1_000 });
  expect(clock.now()).toBe(11_500);
});
