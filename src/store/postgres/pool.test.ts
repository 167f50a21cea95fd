import { expect, test } from "bun:test";
import { SQL } from "bun";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { Turn } from "../../lib/queues/queue.ts";
import { createPool } from "./pool.ts";

const never = { deadlineMs: 10_000, waitMs: 10_000, onSilence: () => undefined };
const connect = () => new SQL("postgres://127.0.0.1:1/none", { max: 1 }); // to a server that is not there

/** A pool whose calls, which never reach a server, run until they are ended. */
function openPool(share: number) {
  const pool = createPool({ ...never, connect, connections: 64, depth: 1, share });
  const running: { of: string; end(): void }[] = [];
  const ask = (turn: Turn, result: unknown) =>
    pool.use(turn, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push({ of: turn === "batch" ? "" : turn.of, end: resolve });
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

test("calls go to the earliest free connection, or to all by turns if these are to stay ready", async () => {
  for (const [staysReady, used] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const pool = createPool({ ...never, connect, connections: 2, depth: 1, share: 2, staysReady });
    const connections = new Map<SQL, number>();
    for (let call = 0; call < 64; call++)
      await pool.use("batch", async (connection) => {
        connections.set(connection, (connections.get(connection) ?? 0) + 1);
      });
    expect(connections.size).toBe(used);
    expect([...connections.values()][0]).toBeGreaterThan(56);
    await pool.close();
  }
});
