import { expect, test } from "bun:test";
import { nextTurn } from "./next-turn.ts";
import { createTurnBudget } from "./turn-budget.ts";

function useBudget(perTurn: number) {
  const turns = createTurnBudget(perTurn);
  const begun: string[] = [];
  return {
    begun,
    begin(name: string, weight = 1) {
      if (turns.takes(weight)) begun.push(name);
      else void turns.wait(name, weight).then(() => begun.push(name));
    },
  };
}

test("so much work begins in a turn, the first of it at once, and names take turns", async () => {
  const { begun, begin } = useBudget(2);
  for (const name of ["crowd", "crowd", "crowd", "crowd", "other"]) begin(name);
  expect(begun).toEqual(["crowd", "crowd"]);
  await nextTurn();
  expect(begun.slice(2)).toEqual(["crowd", "other"]);
  begin("crowd"); // behind those who wait
  await nextTurn();
  expect(begun.slice(4)).toEqual(["crowd", "crowd"]);
});

test("a budget that nobody used for a turn has all of it again", async () => {
  const { begun, begin } = useBudget(1);
  for (let round = 1; round <= 3; round++) {
    begin("name");
    expect(begun).toHaveLength(round);
    await nextTurn();
    await nextTurn();
  }
});

test("at least one piece of work begins in a turn, however heavy, and a light one after it in the next", async () => {
  const { begun, begin } = useBudget(4);
  for (const weight of [1, 50, 50, 1]) begin("heavy", weight);
  begin("light");
  expect(begun).toEqual(["heavy", "heavy"]);
  await nextTurn();
  expect(begun.slice(2)).toEqual(["heavy"]);
  await nextTurn();
  expect(begun.slice(3)).toEqual(["light", "heavy"]);
});
