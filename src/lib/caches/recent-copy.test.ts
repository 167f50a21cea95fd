import { expect, test } from "bun:test";
import { createRecentCopy } from "./recent-copy.ts";

function prepare(make: (count: number) => Promise<string>) {
  let now = 0;
  let count = 0;
  const ask = createRecentCopy(() => make(++count), { maxAgeMs: 1_000, clock: { now: () => now } });
  return {
    ask,
    wait(ms: number) {
      now += ms;
    },
  };
}

test("a copy is made once per period, counted from when the call began", async () => {
  const { ask, wait } = prepare(async (count) => `copy ${count}`);
  expect(await Promise.all([ask(), ask()])).toEqual(["copy 1", "copy 1"]);
  wait(999);
  expect(await ask()).toBe("copy 1");
  wait(1);
  expect(await ask()).toBe("copy 2");
});

test("callers during a call share it, however long it takes", async () => {
  const made: PromiseWithResolvers<string>[] = [];
  const { ask, wait } = prepare(() => {
    const next = Promise.withResolvers<string>();
    made.push(next);
    return next.promise;
  });
  const first = ask();
  wait(5_000);
  const second = ask();
  expect(made).toHaveLength(1);
  made[0]?.resolve("late");
  expect(await Promise.all([first, second])).toEqual(["late", "late"]);
  void ask();
  expect(made).toHaveLength(2); // that one is over a second old already
});

test("a failure is reported to those who waited for it, and the next caller tries again", async () => {
  const { ask } = prepare(async (count) => {
    if (count === 1) throw new Error("not now");
    return `copy ${count}`;
  });
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await ask()).toBe("copy 2");
});
