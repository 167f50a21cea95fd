import { expect, test } from "bun:test";
import { createBackoff } from "./backoff.ts";

test("waits double up to the cap, and start again after a reset", () => {
  const backoff = createBackoff({ minMs: 250, maxMs: 1_500, random: () => 1 });
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([
    250, 500, 1_000, 1_500, 1_500,
  ]);
  backoff.reset();
  expect(backoff.next()).toBe(250);
});

test("jitter is full: a wait is anywhere between nothing and the ceiling", () => {
  const chances = [0, 0.5, 0.999];
  const backoff = createBackoff({ minMs: 100, maxMs: 100, random: () => chances.shift() ?? 0 });
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([0, 50, 99.9]);
});
