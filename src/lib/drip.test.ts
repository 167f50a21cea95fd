import { expect, test } from "bun:test";
import { createDrip } from "./drip.ts";
import { nextTurn } from "./next-turn.ts";

function drip(maxWeight = 100) {
  let now = 0;
  const { pass, end } = createDrip({ atOnce: 2, everyMs: 4, maxWeight, clock: { now: () => now } });
  const passed: string[] = [];
  return {
    passed,
    end,
    /** Gives whether there was room. */
    enter(name: string, weight = 0) {
      const passing = pass(name, weight);
      void passing?.then(() => passed.push(name));
      return passing;
    },
    goOn(ms: number) {
      now += ms;
    },
  };
}

test("a drip lets the first ones through in the next turn, and the rest a few at a time as time goes on", async () => {
  const { passed, enter, goOn } = drip();
  const entered = [1, 2, 3, 4, 5].map(() => enter("name"));
  await Promise.resolve();
  expect(passed).toHaveLength(0);
  await nextTurn();
  expect(passed).toHaveLength(2);
  await nextTurn();
  expect(passed).toHaveLength(2);
  goOn(4);
  await entered[3];
  expect(passed).toHaveLength(4);
  goOn(4);
  await entered[4];
  void enter("name");
  await nextTurn();
  expect(passed).toHaveLength(6);
});

test("names take turns, so that a crowd of one name holds up another by one", async () => {
  const { passed, enter, goOn } = drip();
  for (let count = 0; count < 8; count++) void enter("crowd");
  const last = ["one", "two", "one"].map((name) => enter(name)).at(-1);
  await nextTurn();
  expect(passed).toEqual(["crowd", "one"]);
  const going = setInterval(() => goOn(4), 0);
  await last;
  clearInterval(going);
  expect(passed.slice(0, 5)).toEqual(["crowd", "one", "two", "crowd", "one"]);
});

test("whoever is too heavy for what is left is not held", async () => {
  const { enter } = drip(10);
  expect(enter("name", 50)).toBeDefined(); // it waits alone
  expect(enter("name", 1)).toBeUndefined();
  await nextTurn();
  expect(enter("name", 10)).toBeDefined();
});

test("when a drip has ended, nobody waits for longer than a turn", async () => {
  const { passed, enter, end } = drip();
  for (let count = 0; count < 8; count++) void enter("crowd");
  await nextTurn();
  expect(passed).toHaveLength(2);
  end();
  await nextTurn();
  expect(passed).toHaveLength(8);
  for (let count = 0; count < 8; count++) void enter("crowd");
  await nextTurn();
  await nextTurn();
  expect(passed).toHaveLength(16);
});
