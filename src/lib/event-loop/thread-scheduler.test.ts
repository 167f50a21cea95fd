import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createOwner } from "../owner.ts";
import { createThreadScheduler } from "./thread-scheduler.ts";

/** A thread whose turns are taken by hand: `run` begins the next one, if anything asked for it. */
function useThread(sliceUs = 100) {
  const deferred: (() => void)[] = [];
  const thread = createThreadScheduler({ sliceUs, defer: (callback) => void deferred.push(callback) });
  const begun: string[] = [];

  /** Takes the next turn of the event loop. Returns whether there is one. */
  async function run(): Promise<boolean> {
    const next = deferred.shift();
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
    const owner = createOwner(() => expect.unreachable());
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

  test("is never idle while anybody waits, begins everything once and in order, and is fair", async () => {
    const arrival = fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      cost: fc.integer({ min: 1, max: 300 }),
      turnsLater: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 80 }), async (arrivals) => {
        const { thread, ask, run, begun } = useThread();
        const costs = new Map<string, number>();
        const asked = new Map<string, string[]>();
        const used = new Map<string, number>(); // by organizations, since all of them wait
        let seen = 0;

        async function turn(): Promise<void> {
          const before = thread.waiting;
          const hasTurn = await run();
          if (before > 0) expect([hasTurn, begun.length > seen]).toEqual([true, true]); // work-conserving
          for (; seen < begun.length; seen++) {
            const name = begun[seen] ?? "";
            used.set(name.charAt(0), (used.get(name.charAt(0)) ?? 0) + (costs.get(name) ?? 0));
          }
        }

        for (const [index, { name, cost, turnsLater }] of arrivals.entries()) {
          for (let later = 0; later < turnsLater; later++) await turn();
          const one = `${name}${index}`;
          costs.set(one, cost);
          asked.set(name, [...(asked.get(name) ?? []), one]);
          ask(one, cost);
        }
        while (thread.waiting > 0) await turn();
        await run();
        for (const [name, ones] of asked) expect(begun.filter((one) => one.charAt(0) === name)).toEqual(ones);
      }),
    );
  });

  test("gives organizations that always wait the same, within the cost of their largest pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 5 }), async (costs) => {
        const { thread, run } = useThread();
        const used = costs.map(() => 0);
        let isOver = false;
        const loop = async (index: number, cost: number) => {
          while (!isOver) {
            await thread.turn(`${index}`, cost);
            used[index] = (used[index] ?? 0) + cost;
          }
        };
        const loops = costs.flatMap((cost, index) => Array.from({ length: 2 + 200 / cost }, () => loop(index, cost)));
        for (let turn = 0; turn < 200; turn++) await run();
        expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(3 * (Math.max(...costs) + 100)); // they begin one after the other
        isOver = true;
        while (await run());
        await Promise.all(loops);
      }),
      { numRuns: 30 },
    );
  });
});
