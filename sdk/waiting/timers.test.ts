import { expect, test } from "bun:test";
import { sleep } from "./timers.ts";

test("a sleep that is longer than a timer can be does not end at once", async () => {
  const over = new AbortController();
  const long = sleep(9_999_999_000, over.signal).then(() => "long");
  expect(await Promise.race([long, sleep(20).then(() => "short")])).toBe("short");
  over.abort();
  expect(await long).toBe("long");
});
