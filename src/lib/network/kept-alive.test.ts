import { expect, test } from "bun:test";
import { createKeptAlive } from "./kept-alive.ts";

function prepare() {
  let now = 1_000;
  const kept = createKeptAlive({ keptMs: 100, clock: { now: () => now } });
  return {
    kept,
    ask: (address: string, ...ports: number[]) => ports.map((port) => kept.isOneTooMany(address, port, 2)),
    wait: (ms: number) => {
      now += ms;
    },
  };
}

test("an address may keep a number of connections alive; one more is too many, and the existing ones are not", () => {
  const { ask } = prepare();
  expect(ask("a", 1, 2, 3, 1, 2, 3)).toEqual([false, false, true, false, false, true]);
  expect(ask("b", 1)).toEqual([false]);
});

test("a connection is forgotten once it was idle long enough to be closed", () => {
  const { ask, wait, kept } = prepare();
  ask("a", 1, 2);
  wait(60);
  expect(ask("a", 1)).toEqual([false]);
  wait(60);
  expect(ask("a", 3, 4)).toEqual([false, true]); // replaces the second
  wait(101);
  ask("b", 1);
  expect(kept.addresses).toBe(1);
});
