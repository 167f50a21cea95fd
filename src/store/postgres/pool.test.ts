import { expect, test } from "bun:test";
import { SQL } from "bun";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { Turn } from "../../lib/queues/turns.ts";
import { createPool } from "./pool.ts";

/** A pool whose calls, which never reach a server, run until they are ended. */
function openPool(share: number) {
  const pool = createPool({
    connect: () => new SQL("postgres://127.0.0.1:1/none", { max: 1 }),
    connections: 64,
    depth: 1,
    share,
    deadlineMs: 10_000,
    waitMs: 10_000,
    onSilence: () => undefined,
  });
  const running: { of: string; end(): void }[] = [];
  const ask = (turn: Turn, result: unknown) =>
    pool.use(turn, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push({ of: turn === "shared" ? "" : turn.of, end: resolve });
      await promise;
      return result;
    });
  const inFlight = (of: string) => running.filter((call) => call.of === of).length;
  async function endAll(): Promise<void> {
    for (const { end } of running.splice(0)) end();
    await nextTurn();
  }
  return { pool, ask, inFlight, endAll };
}

const small = [{ id: "a" }];
const manyRows = Array.from({ length: 1_000 }, () => ({ id: "a" }));
const longRows = Array.from({ length: 50 }, () => ({ payload: "x".repeat(60_000) }));

test("an organization has a share of the connections, and two large calls in flight", async () => {
  const { pool, ask, inFlight, endAll } = openPool(8);
  const answers: Promise<unknown>[] = [];
  for (const [org, result] of [
    ["small", small],
    ["rows", manyRows],
    ["bytes", longRows],
  ] as const)
    answers.push(...Array.from({ length: 100 }, () => ask({ of: org }, result)));
  for (let round = 0; round < 6; round++) await endAll();
  expect([inFlight("small"), inFlight("rows"), inFlight("bytes")]).toEqual([8, 2, 2]);
  const other = ask({ of: "other" }, small);
  await nextTurn();
  expect(inFlight("other")).toBe(1); // others wait for their own share, not for a connection
  answers.push(other, ...Array.from({ length: 12 }, () => ask({ of: "" }, manyRows)));
  await nextTurn();
  expect(inFlight("")).toBe(12); // what is of no organization is not limited
  for (let round = 0; round < 60; round++) await endAll();
  await Promise.all(answers);
  await pool.close();
});
