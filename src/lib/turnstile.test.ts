import { expect, test } from "bun:test";
import { nextTurn } from "./next-turn.ts";
import { createTurnstile } from "./turnstile.ts";

test("a turnstile lets so many through in a turn, in the order in which they came", async () => {
  const turnstile = createTurnstile(2);
  const passed: number[] = [];
  const enter = (number: number) => void turnstile.pass().then(() => passed.push(number));
  for (const number of [1, 2, 3, 4, 5]) enter(number);
  await Promise.resolve();
  expect(passed).toEqual([1, 2]);
  enter(6); // behind those who wait
  await nextTurn();
  expect(passed).toEqual([1, 2, 3, 4]);
  await nextTurn();
  expect(passed).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a turnstile that was idle has room again", async () => {
  const turnstile = createTurnstile(1);
  for (let round = 0; round < 3; round++) {
    let hasPassed = false;
    void turnstile.pass().then(() => {
      hasPassed = true;
    });
    await Promise.resolve();
    expect(hasPassed).toBe(true);
    await nextTurn();
    await nextTurn();
  }
});
