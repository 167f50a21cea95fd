import { expect, test } from "bun:test";
import { createBackoff } from "./backoff.ts";
import { readRetryIn, returnWaitMs } from "./return-wait.ts";

const bounds = { minMs: 250, maxMs: 15_000, tooManyMs: 5_000, refusedTokenMs: 1_000 };
const waitAfter = (code: number, reason: string, chance: number, refused = 0) =>
  returnWaitMs({ code, reason }, createBackoff({ ...bounds, random: () => chance }), {
    ...bounds,
    refused,
    random: () => chance,
  });

test("a reason names the wait in whole seconds, and an hour is the most that is believed", () => {
  expect(readRetryIn("too many connections or requests; retry in 3 s")).toBe(3_000);
  expect(readRetryIn("too many connections or requests (requests-per-user); retry in 12 s")).toBe(12_000);
  expect(readRetryIn("retry in 0 s")).toBe(0);
  expect(readRetryIn("retry in 3600 s, please")).toBe(3_600_000);
  expect(readRetryIn("retry in 99999999999999999999 s")).toBe(3_600_000);
});

test.each(["", "too many connections", "retry in a while", "retry in -1 s", "retry in 1.5 s", "retry in 3 sec"])(
  "%p names no wait",
  (reason) => expect(readRetryIn(reason)).toBeUndefined(),
);

test("who is told to come back in N seconds comes between N and 2 N seconds later", () => {
  const reason = "too many connections or requests; retry in 4 s";
  expect([waitAfter(4429, reason, 0), waitAfter(4429, reason, 0.5), waitAfter(4429, reason, 1)]).toEqual([
    4_000, 6_000, 8_000,
  ]);
});

test("who is told to come back at once takes the usual wait", () => {
  expect([waitAfter(4429, "retry in 0 s", 0), waitAfter(4429, "retry in 0 s", 1)]).toEqual([0, 250]);
});

test("who hears 4429 without a time adds its least wait to the usual one", () => {
  expect([waitAfter(4429, "", 0), waitAfter(4429, "too many connections", 1)]).toEqual([5_000, 5_250]);
});

test("only 4429 is asked for a time", () => {
  expect(waitAfter(1012, "retry in 4 s", 1)).toBe(250);
});

test("after tokens that were refused, the wait doubles, and so does its longest", () => {
  expect([0, 1, 2, 3, 4].map((refused) => waitAfter(4401, "", 0, refused))).toEqual([0, 1_000, 2_000, 4_000, 8_000]);
  expect([1, 4].map((refused) => waitAfter(4401, "", 1, refused))).toEqual([2_000, 16_000]);
  expect(waitAfter(1006, "", 0, 3)).toBe(0);
});
