import { expect, test } from "bun:test";
import { createWindowQuotas } from "./window-quota.ts";

/** Quotas of ten per second, on a clock that the test moves. */
function quotasAt(options: { quota?: number; maxNames?: number } = {}) {
  let now = 5_000;
  const quotas = createWindowQuotas({ quota: 10, windowMs: 1_000, clock: { now: () => now }, ...options });
  return {
    quotas,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("a name that has used up its quota waits for the end of the window begun with its first use", () => {
  const { quotas, pass } = quotasAt();
  quotas.use("a", 4);
  pass(300);
  quotas.use("a", 5.9);
  expect(quotas.waitMs("a")).toBe(0);
  quotas.use("a", 0.1);
  expect(quotas.waitMs("a")).toBe(700);
  expect(quotas.waitMs("b")).toBe(0);
  pass(699);
  expect(quotas.waitMs("a")).toBe(1);
  pass(1);
  expect(quotas.waitMs("a")).toBe(0);
  quotas.use("a", 9);
  expect(quotas.waitMs("a")).toBe(0);
});

test("a name that used its quota several times over waits as many windows", () => {
  const { quotas, pass } = quotasAt();
  quotas.use("a", 25);
  expect(quotas.waitMs("a")).toBe(2_500);
  pass(2_499);
  expect(quotas.waitMs("a")).toBe(1);
  pass(1);
  expect(quotas.waitMs("a")).toBe(0);
});

test("names are forgotten once their windows have ended, and the oldest beyond the maximum", () => {
  const { quotas, pass } = quotasAt({ maxNames: 3 });
  for (const name of ["a", "b", "c", "d"]) quotas.use(name, 10);
  expect(quotas.size).toBe(3);
  expect(quotas.waitMs("a")).toBe(0);
  expect(quotas.waitMs("d")).toBe(1_000);
  pass(1_000);
  quotas.use("e", 1);
  expect(quotas.size).toBe(1);
});

test("an infinite quota counts nothing", () => {
  const { quotas } = quotasAt({ quota: Number.POSITIVE_INFINITY });
  quotas.use("a", 1_000_000);
  expect(quotas.waitMs("a")).toBe(0);
  expect(quotas.size).toBe(0);
});
