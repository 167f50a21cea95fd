import { expect, test } from "bun:test";
import { createRoundRobin } from "./fair-queue.ts";

function turnsOf(keys: string) {
  const turns = createRoundRobin<string>(10);
  for (const key of keys) turns.enter(key, () => key);
  return {
    ...turns,
    /** The keys of the next turns, each of which takes as much as it may. */
    take(count: number): string {
      return Array.from({ length: count }, () => {
        const { key } = turns.next() ?? expect.unreachable();
        turns.charge(key, 10);
        return key;
      }).join("");
    },
  };
}

test("a key that took too much owes it, even if nothing waits under it meanwhile", () => {
  const { take, charge, leave, enter, get } = turnsOf("abc");
  charge("a", 30);
  leave("a");
  expect(take(2)).toBe("bc");
  enter("a", () => expect.unreachable());
  expect(take(6)).toBe("bcbcab");
  charge("a", 30);
  leave("a");
  expect(take(7)).toBe("cbcbcbc");
  expect(get("a")).toBeUndefined();
});

test("a key that owes nothing is forgotten once nothing waits under it, and everyone once nothing waits at all", () => {
  const { charge, leave, get, contents } = turnsOf("abc");
  leave("a");
  expect(get("a")).toBeUndefined();
  charge("b", 1_000);
  leave("b");
  expect([...contents()]).toEqual(["b", "c"]);
  leave("c");
  expect([...contents()]).toEqual([]);
});

test("a key that is alone owes nothing for what it takes", () => {
  const { take, charge, enter } = turnsOf("a");
  charge("a", 1_000);
  enter("b", () => "b");
  expect(take(4)).toBe("abab");
});

test("a key that leaves twice counts once", () => {
  const { charge, leave, get } = turnsOf("abc");
  charge("a", 100);
  leave("a");
  leave("a");
  leave("b");
  expect(get("c")).toBe("c");
});
