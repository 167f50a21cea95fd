import { expect, test } from "bun:test";
import { createNodeProblems } from "./node-problems.ts";

const here = { awayMs: (): number | undefined => undefined };
const dependencies = { database: here, bus: here, files: here, outbox: here, provider: here, signIn: here };
const quiet = { outboxMs: undefined, webhooksMs: 0, scheduled: { waiting: 3, overdueMs: 0 } };
const clock = { now: () => 1_000_000 };
const at = (ms: number) => new Date(ms).toISOString();

test("a node on which all is well has no problems", () => {
  const problems = createNodeProblems({ dependencies, gauges: () => quiet, isStopping: () => false, clock });
  expect(problems()).toEqual([]);
});

test("what is away, and what has waited for too long, is told with since when", () => {
  const gauges = { outboxMs: 10_001, webhooksMs: 30_000, scheduled: { waiting: 1, overdueMs: 11_000 } };
  const problems = createNodeProblems({
    dependencies: { ...dependencies, files: { awayMs: () => 5_000 } },
    gauges: () => gauges,
    isStopping: () => false,
    clock,
  });
  expect(problems()).toEqual([
    { kind: "files", since: at(995_000) },
    { kind: "outbox_waits", since: at(989_999) },
    { kind: "scheduled_wait", since: at(989_000) },
  ]);
});

test("a node that stops has been stopping since it was first seen to", () => {
  let now = 1_000;
  const problems = createNodeProblems({
    dependencies,
    gauges: () => quiet,
    isStopping: () => now > 1_000,
    clock: { now: () => now },
  });
  expect(problems()).toEqual([]);
  now = 2_000;
  problems();
  now = 3_000;
  expect(problems()).toEqual([{ kind: "stopping", since: at(2_000) }]);
});
