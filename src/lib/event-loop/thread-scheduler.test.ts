import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createOwner, type Owner } from "../owner.ts";
import { nextTurn } from "./next-turn.ts";
import { createThreadScheduler } from "./thread-scheduler.ts";

const sliceUs = 100;
/** What organizations may take before they have to pay: three turns, as the scheduler counts them. */
const creditUs = 3 * 25;

const newOwner = () => createOwner(() => expect.unreachable());

/** A thread whose turns are taken by hand: `run` begins the next one, if anything asked for it. */
function useThread() {
  let deferred: (() => void) | undefined;
  const thread = createThreadScheduler({
    sliceUs,
    defer(callback) {
      expect(deferred).toBeUndefined(); // one turn of the event loop is enough
      deferred = callback;
    },
  });
  const begun: string[] = [];

  /** Takes the next turn of the event loop. Returns whether there is one. */
  async function run(): Promise<boolean> {
    const next = deferred;
    deferred = undefined;
    next?.();
    for (let step = 0; step < 4; step++) await Promise.resolve();
    return next !== undefined;
  }

  return {
    thread,
    begun,
    run,
    /** Asks for a turn. Returns whether the work begins at once. */
    ask(name: string, cost = 100, part?: string): boolean {
      const turn = thread.turn(name.charAt(0), cost, { part });
      if (turn === undefined) begun.push(name);
      else void turn.then(() => begun.push(name));
      return turn === undefined;
    },
    async runAll(): Promise<void> {
      while (await run());
    },
  };
}

describe("a thread", () => {
  test("that is free begins work at once, up to a slice for each turn of the event loop", async () => {
    const { ask, run, begun } = useThread();
    expect([ask("a1", 60), ask("a2", 60), ask("a3", 60)]).toEqual([true, true, false]);
    await run();
    expect(begun).toEqual(["a1", "a2", "a3"]);
    expect(ask("a4", 60)).toBe(true); // there was room left
  });

  test("begins a slice of a millisecond in each turn of the event loop, unless told otherwise", async () => {
    const thread = createThreadScheduler();
    expect([thread.turn("a", 999), thread.turn("a", 1)]).toEqual([undefined, undefined]);
    const waiting = thread.turn("a", 101);
    expect(waiting).toBeInstanceOf(Promise);
    await nextTurn();
    expect(thread.waiting).toBe(0);
    await waiting;
  });

  test("lets organizations take turns by cost, and their keys within them", async () => {
    const { ask, runAll, begun } = useThread();
    for (const name of ["a0", "a1", "a2", "a3", "b1", "c1"]) ask(name);
    for (const [name, part] of [
      ["d1", "x"],
      ["d2", "x"],
      ["d3", "y"],
    ] as const)
      ask(name, 100, part);
    await runAll();
    expect(begun).toEqual(["a0", "a1", "b1", "c1", "d1", "a2", "d3", "a3", "d2"]);
  });

  test("owes work that is long to the others before it goes on", async () => {
    const { ask, runAll, begun } = useThread();
    for (const name of ["a0", "a1", "a2"]) ask(name, 200);
    for (let count = 1; count <= 20; count++) ask(`b${count}`, 25);
    await runAll();
    expect(begun.indexOf("a2") - begun.indexOf("a1")).toBeWithin(8, 11); // 200 of `b`
  });

  test("forgets those whose owner closes, and does not let them wait if it has closed", async () => {
    const { thread, ask, runAll, begun } = useThread();
    const owner = newOwner();
    ask("a1");
    const gone = thread.turn("g", 100, { owner });
    ask("a2");
    owner.close();
    await gone;
    expect(thread.waiting).toBe(1);
    expect(thread.turn("g", 100, { owner })).toBeUndefined();
    await runAll();
    expect(begun).toEqual(["a1", "a2"]);
  });

  test("keeps nothing of an owner whose work has begun", async () => {
    const { thread, ask, runAll, begun } = useThread();
    const owner = newOwner();
    expect([thread.turn("g", 100, { owner }), owner.size]).toEqual([undefined, 0]);
    const turn = thread.turn("g", 100, { owner });
    expect(owner.size).toBe(1);
    await runAll();
    await turn;
    expect(owner.size).toBe(0);
    ask("g1");
    ask("g2");
    owner.close();
    expect(thread.waiting).toBe(1);
    await runAll();
    expect(begun).toEqual(["g1", "g2"]);
  });

  test("lets short work of those who have nothing waiting begin in a full slice, ten at most", async () => {
    const { ask, run, runAll, begun } = useThread();
    expect([ask("a1"), ask("a2", 10)]).toEqual([true, true]);
    expect([ask("a3", 10), ask("b1", 11), ask("b2", 10), ask("c1", 10)]).toEqual([false, false, false, true]);
    for (const name of "defghijklm") ask(name, 10);
    expect(begun).toEqual(["a1", "a2", "c1", ..."defghijk"]);
    await run();
    expect(ask("c2", 10)).toBe(true);
    await runAll();
    expect(begun.toSorted()).toEqual(["a1", "a2", "a3", "b1", "b2", "c1", "c2", ..."defghijklm"]);
  });

  test("asks for the organization only if somebody has to wait", async () => {
    const { thread, runAll } = useThread();
    let asked = 0;
    const name = () => `${asked++}`;
    expect([thread.turn(name, 100), asked]).toEqual([undefined, 0]);
    const turn = thread.turn(name, 100);
    expect(asked).toBe(1);
    await runAll();
    await turn;
  });

  test("takes no cost that is not a number", () => {
    expect(() => useThread().thread.turn("a", Number.NaN)).toThrow(RangeError);
  });

  test("is never idle while anybody waits, begins a slice at a time, everything once, and in order", async () => {
    const arrival = fc.record({
      org: fc.constantFrom("a", "b", "c"),
      part: fc.constantFrom("x", "y"),
      cost: fc.integer({ min: 1 + sliceUs / 10, max: 3 * sliceUs }), // what is shorter need not wait
      turnsLater: fc.integer({ min: 0, max: 3 }),
      closesAfter: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 3, nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 80 }), async (arrivals) => {
        const { thread, run } = useThread();
        const asked: { place: string; name: string; cost: number; owner: Owner }[] = [];
        const begun: typeof asked = [];
        const closing: { owner: Owner; inTurns: number }[] = [];
        let inTurn: number[] = []; // the costs of what began in this turn of the event loop
        const costOf = (costs: number[]) => costs.reduce((sum, cost) => sum + cost, 0);

        function note(one: (typeof asked)[number]): void {
          begun.push(one);
          inTurn.push(one.cost);
          expect(costOf(inTurn.slice(0, -1))).toBeLessThan(sliceUs);
        }

        async function turn(): Promise<void> {
          for (const one of closing) if (one.inTurns-- === 0) one.owner.close();
          const before = thread.waiting;
          inTurn = [];
          expect((await run()) || before === 0).toBe(true);
          expect(thread.waiting === 0 || costOf(inTurn) >= sliceUs).toBe(true);
        }

        for (const [index, { org, part, cost, turnsLater, closesAfter }] of arrivals.entries()) {
          for (let later = 0; later < turnsLater; later++) await turn();
          const owner = newOwner();
          if (closesAfter !== undefined) closing.push({ owner, inTurns: closesAfter });
          const one = { place: `${org}${part}`, name: `${index}`, cost, owner };
          const isFree = thread.waiting === 0 && costOf(inTurn) < sliceUs;
          asked.push(one);
          const waiting = thread.turn(org, cost, { part, owner });
          expect(waiting === undefined).toBe(isFree);
          if (waiting === undefined) note(one);
          else void waiting.then(() => owner.isClosed || note(one));
        }
        while (thread.waiting > 0) await turn();
        for (const place of new Set(asked.map((one) => one.place))) {
          const of = (all: typeof asked) => all.filter((one) => one.place === place);
          const due = of(asked).filter((one) => !one.owner.isClosed || begun.includes(one));
          expect(of(begun)).toEqual(due);
        }
      }),
    );
  });

  /** Work that asks for its next piece as soon as the last one has begun, as many at a time. */
  const demand = fc.record({
    cost: fc.oneof(fc.integer({ min: 1, max: sliceUs / 10 }), fc.integer({ min: 1, max: sliceUs })),
    atATime: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 50 })),
  });

  test.each([
    ["organizations", (name: string) => ({ org: name })],
    ["keys of an organization", (name: string) => ({ org: "o", part: name })],
  ])(
    "lets none of the %s that always wait be behind another by more than a slice and its largest piece",
    async (_, placeOf) => {
      await fc.assert(
        fc.asyncProperty(demand, fc.array(demand, { minLength: 1, maxLength: 5 }), async (patient, others) => {
          const { thread, run } = useThread();
          const behind = others.map(() => 0); // the most since any moment
          let isOver = false;

          async function loop(name: string, cost: number, note: () => void): Promise<void> {
            const { org, part } = { part: undefined, ...placeOf(name) };
            while (!isOver) {
              await thread.turn(org, cost, { part });
              note();
            }
          }

          const always = 2 + Math.ceil((2 * sliceUs) / patient.cost); // more than can begin in a turn
          const loops = Array.from({ length: always }, () =>
            loop("patient", patient.cost, () => {
              for (const [index, cost] of behind.entries()) behind[index] = Math.max(0, cost - patient.cost);
            }),
          );
          for (const [index, { cost, atATime }] of others.entries())
            for (let count = 0; count < atATime; count++)
              loops.push(
                loop(`${index}`, cost, () => {
                  behind[index] = (behind[index] ?? 0) + cost;
                }),
              );
          await run(); // what began before anyone had to wait is nobody's turn
          behind.fill(0);
          for (let turn = 0; turn < 100; turn++) {
            await run();
            expect(Math.max(...behind)).toBeLessThanOrEqual(sliceUs + patient.cost + creditUs);
          }
          isOver = true;
          while (await run());
          await Promise.all(loops);
        }),
        { numRuns: 50 },
      );
    },
  );
});
