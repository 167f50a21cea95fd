import { afterEach, expect, jest, test } from "bun:test";
import { unavailable } from "../contract/errors/errors.ts";
import { createDueWork } from "./due-work.ts";

afterEach(() => void jest.useRealTimers());

type Options = { sharesDatabase?: boolean; random?: number };

/** A node on a database whose clock is an hour ahead, with organizations that are due once at given times of that clock. */
function setUp({ sharesDatabase = false, random = 0.5 }: Options = {}) {
  jest.useFakeTimers();
  const start = Date.now();
  const hourMs = 3_600_000;
  const now = () => Date.now() - start;
  const due = new Map<string, number>();
  const sent: [org: string, at: number][] = [];
  const told: unknown[] = [];
  const state = { looks: 0, isAway: false, lost: new Set<string>(), broken: new Set<string>() };
  const work = createDueWork({
    due: {
      isShared: sharesDatabase,
      async next() {
        state.looks++;
        if (state.isAway) throw unavailable();
        return { now: now() + hourMs, nextAt: due.size === 0 ? undefined : Math.min(...due.values()) + hourMs };
      },
      dueOrganizations: async (at) => [...due].filter(([, time]) => time + hourMs <= at).map(([org]) => org),
    },
    async workSome(org) {
      if (state.broken.has(org)) throw new Error(`${org} is broken`);
      if (state.lost.has(org)) return false;
      due.delete(org);
      sent.push([org, now()]);
      return true;
    },
    elapsed: { now },
    random: () => random,
  });
  return {
    due,
    sent,
    told,
    state,
    work,
    start: () => work.start({ onError: (error) => told.push(error), onRecovery: () => told.push("recovered") }),
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 10) {
        jest.advanceTimersByTime(10);
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      }
    },
  };
}

test("what is due when the node starts is sent at once, and what is scheduled later at its time", async () => {
  const { due, sent, start, pass, work } = setUp();
  due.set("old", -5_000);
  start();
  await pass(20);
  due.set("soon", 305);
  work.expect(285);
  await pass(400);
  expect(sent.map(([org]) => org)).toEqual(["old", "soon"]);
  expect(sent[1]?.[1]).toBeWithin(305, 330);
  await work.stop();
});

test("what another node scheduled is sent within a second of its time, by the database's clock", async () => {
  const { due, sent, start, pass, work } = setUp({ sharesDatabase: true });
  start();
  await pass(50);
  due.set("late", 100);
  due.set("known", 2_000);
  await pass(3_000);
  expect(sent.map(([org]) => org)).toEqual(["late", "known"]);
  expect(sent[0]?.[1]).toBeLessThan(1_000);
  expect(sent[1]?.[1]).toBeWithin(2_000 + 70, 2_000 + 120); // half of the spread behind the node that knew it first
  await work.stop();
});

test("a node that has nothing to do looks once in 800 ms", async () => {
  const { due, state, start, pass, work } = setUp({ sharesDatabase: true });
  due.set("tomorrow", 86_400_000);
  start();
  await pass(8_000);
  expect(state.looks).toBeWithin(10, 12);
  await work.stop();
});

test("a node that finds another at work leaves it alone for a moment", async () => {
  const { due, state, sent, start, pass, work } = setUp({ sharesDatabase: true });
  due.set("busy", 0);
  state.lost.add("busy");
  start();
  await pass(1_000);
  expect(state.looks).toBeWithin(4, 7);
  state.lost.clear(); // that node has died
  await pass(300);
  expect(sent.map(([org]) => org)).toEqual(["busy"]);
  await work.stop();
});

test("an organization that cannot be served does not keep the others from it, and is tried again", async () => {
  const { due, state, sent, told, start, pass, work } = setUp();
  for (const org of ["a", "b", "c"]) due.set(org, 0);
  state.broken.add("a");
  start();
  await pass(2_000);
  expect(sent.map(([org]) => org)).toEqual(["b", "c"]);
  expect(told).toEqual([new Error("a is broken")]);
  state.broken.clear();
  await pass(1_000);
  expect([sent.at(-1)?.[0], told.at(-1)]).toEqual(["a", "recovered"]);
  await work.stop();
});

test("while the database is away a node tries again, and sends what became due when it is back", async () => {
  const { due, state, sent, told, start, pass, work } = setUp();
  state.isAway = true;
  start();
  due.set("o", 500);
  await pass(3_000);
  expect([sent, told.length]).toEqual([[], 1]);
  state.isAway = false;
  await pass(900);
  expect([sent.map(([org]) => org), told.at(-1)]).toEqual([["o"], "recovered"]);
  await work.stop();
});

test("a node that stops sends nothing more", async () => {
  const { due, sent, start, pass, work } = setUp();
  start();
  await pass(20);
  due.set("o", 100);
  work.expect(80);
  await work.stop();
  await pass(2_000);
  expect(sent).toEqual([]);
});
