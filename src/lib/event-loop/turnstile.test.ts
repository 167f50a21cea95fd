import { expect, test } from "bun:test";
import { createOwner } from "../owner.ts";
import { nextTurn } from "./next-turn.ts";
import { createTurnstile } from "./turnstile.ts";

const unused = (error: unknown) => {
  throw error;
};

test("a turnstile lets a fixed number through per turn, in order of arrival", async () => {
  const turnstile = createTurnstile(2);
  const passed: number[] = [];
  const enter = (number: number) => void turnstile.pass("name").then(() => passed.push(number));
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
    void turnstile.pass("name").then(() => {
      hasPassed = true;
    });
    await Promise.resolve();
    expect(hasPassed).toBe(true);
    await nextTurn();
    await nextTurn();
  }
});

test("waiting names take turns, so that a crowd of one name delays another by one", async () => {
  const turnstile = createTurnstile(2);
  const passed: string[] = [];
  const enter = (name: string) => void turnstile.pass(name).then(() => passed.push(name));
  for (let count = 0; count < 8; count++) enter("crowd");
  for (const name of ["one", "two", "one"]) enter(name);
  await Promise.resolve();
  expect(passed).toEqual(["crowd", "crowd"]);
  await nextTurn();
  expect(passed.slice(2)).toEqual(["crowd", "one"]);
  await nextTurn();
  expect(passed.slice(4)).toEqual(["two", "crowd"]);
  await nextTurn();
  expect(passed.slice(6)).toEqual(["one", "crowd"]);
});

test("a slow name gets one place per turn, and others the rest", async () => {
  const turnstile = createTurnstile(3, {
    names: { mostOf: (name) => (name === "slow" ? 1 : Number.POSITIVE_INFINITY) },
  });
  const passed: string[] = [];
  const enter = (name: string) => void turnstile.pass(name).then(() => passed.push(name));
  for (let count = 0; count < 4; count++) enter("slow");
  for (let count = 0; count < 4; count++) enter("quick");
  await Promise.resolve();
  expect(passed).toEqual(["slow", "quick", "quick"]);
  await nextTurn();
  expect(passed.slice(3)).toEqual(["slow", "quick", "quick"]);
  await nextTurn();
  expect(passed.slice(6)).toEqual(["slow"]);
  enter("quick");
  await Promise.resolve();
  expect(passed.slice(7)).toEqual(["quick"]);
  await nextTurn();
  expect(passed.slice(8)).toEqual(["slow"]);
});

test("a name with a limit waits for its time to be over, and others do not wait for it", async () => {
  const turnstile = createTurnstile(Number.POSITIVE_INFINITY, {
    names: { mostOf: (name) => (name === "crowd" ? 4 : Number.POSITIVE_INFINITY), ms: 20 },
  });
  const passed: string[] = [];
  const begin = async (name: string, weight = 1) => {
    if (!turnstile.takes(weight, name)) await turnstile.wait(name, { weight });
    passed.push(name);
  };
  const crowd = [3, 3, 1, 9].map((weight) => begin("crowd", weight));
  await nextTurn();
  await begin("other");
  expect(passed).toEqual(["crowd", "crowd", "other"]);
  await crowd[3];
  expect(passed).toEqual(["crowd", "crowd", "other", "crowd", "crowd"]);
  expect(turnstile.waiting).toBe(0);
});

test("the length of a turn may change from one to the next", async () => {
  let turnMs: number | undefined;
  const turnstile = createTurnstile(1, { turnMs: () => turnMs });
  await turnstile.pass("name");
  await turnstile.pass("name"); // in the next turn of the event loop
  turnMs = 60_000;
  await nextTurn();
  await turnstile.pass("name");
  void turnstile.pass("name");
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(turnstile.waiting).toBe(1);
});

test("a caller that has left waits no more and uses no turn", async () => {
  const turnstile = createTurnstile(1);
  const passed: string[] = [];
  const gone = createOwner(unused);
  const enter = (name: string, owner = createOwner(unused)) =>
    void turnstile.pass(name, { owner }).then(() => {
      if (!owner.isClosed) passed.push(name);
    });
  enter("first");
  for (let count = 0; count < 50; count++) enter("crowd", gone);
  enter("crowd");
  enter("other");
  expect(turnstile.waiting).toBe(52);
  gone.close();
  expect(turnstile.waiting).toBe(2);
  enter("crowd", gone);
  await Promise.resolve();
  expect(turnstile.waiting).toBe(2);
  await nextTurn();
  await nextTurn();
  expect(passed).toEqual(["first", "crowd", "other"]);
  expect(gone.size).toBe(0);
});

test("a turnstile with timed turns lets nobody else through within one, and everybody once it is open", async () => {
  const turnstile = createTurnstile(2, { turnMs: 60_000 });
  const owner = createOwner(unused);
  const passed: number[] = [];
  const enter = (number: number) => void turnstile.pass("name", { owner }).then(() => passed.push(number));
  for (const number of [1, 2, 3, 4, 5]) enter(number);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(passed).toEqual([1, 2]);
  turnstile.open();
  enter(6);
  await nextTurn();
  expect(passed.toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(turnstile.waiting).toBe(0);
  expect(owner.size).toBe(0);
});

test("room taken at once is gone for others, and names take turns behind it", async () => {
  const { begun, begin } = useTurns(2);
  for (const name of ["crowd", "crowd", "crowd", "crowd", "other"]) begin(name);
  expect(begun).toEqual(["crowd", "crowd"]);
  await nextTurn();
  expect(begun.slice(2)).toEqual(["crowd", "other"]);
  begin("crowd"); // behind those who wait
  await nextTurn();
  expect(begun.slice(4)).toEqual(["crowd", "crowd"]);
});

test("at least one goes through per turn, however heavy, and a light one after it in the next", async () => {
  const { begun, begin } = useTurns(4);
  for (const weight of [1, 50, 50, 1]) begin("heavy", weight);
  begin("light");
  expect(begun).toEqual(["heavy", "heavy"]);
  await nextTurn();
  expect(begun.slice(2)).toEqual(["heavy"]);
  await nextTurn();
  expect(begun.slice(3)).toEqual(["light", "heavy"]);
});

test("in timed turns, a caller heavier than a turn uses up the following ones", async () => {
  const turnstile = createTurnstile(2, { turnMs: 1 });
  const passed: string[] = [];
  const enter = (name: string, weight: number) => turnstile.pass(name, { weight }).then(() => passed.push(name));
  const startedAt = performance.now();
  const entered = [enter("heavy", 40), enter("light", 1)];
  await Promise.all(entered);
  expect(passed).toEqual(["heavy", "light"]);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19); // timers do not fire early; 20 turns, of which the first may have begun
});

/** Work that begins at once if there is room, and otherwise in its turn. */
function useTurns(perTurn: number) {
  const turns = createTurnstile(perTurn);
  const begun: string[] = [];
  return {
    begun,
    begin(name: string, weight = 1) {
      if (turns.takes(weight)) begun.push(name);
      else void turns.wait(name, { weight }).then(() => begun.push(name));
    },
  };
}

test("reports to callers that take room without waiting when there is room again", async () => {
  let turns = 0;
  const turnstile = createTurnstile(2, { onTurn: () => turns++ });
  expect([turnstile.takes(), turnstile.takes(), turnstile.takes()]).toEqual([true, true, false]);
  expect(turns).toBe(0);
  await nextTurn();
  expect([turns, turnstile.takes()]).toEqual([1, true]);
  await nextTurn();
  await nextTurn();
  expect(turns).toBe(2); // no further turn, as nobody came
});
