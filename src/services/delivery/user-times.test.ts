import { expect, test } from "bun:test";
import { createUserTimes } from "./user-times.ts";

test("the earliest time of each user is found, by the first search and by later ones", async () => {
  const times = createUserTimes();
  times.add(["a", "b"], 5);
  times.add(["b", "c"], 3);
  expect(await times.find(["b", "x"])).toEqual(new Map([["b", 3]]));
  expect(await times.find(["a", "b", "c"])).toEqual(
    new Map([
      ["a", 5],
      ["b", 3],
      ["c", 3],
    ]),
  );
  times.add(["a", "__proto__"], 1);
  expect(await times.find(["a", "__proto__"])).toEqual(
    new Map([
      ["a", 1],
      ["__proto__", 1],
    ]),
  );
  expect(times.size).toBe(6);
});

test("searches at once agree, and let the event loop turn", async () => {
  const times = createUserTimes();
  const uids = Array.from({ length: 20_000 }, (_, index) => `u${index}`);
  times.add(uids, 1);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const some = [uids[0] ?? "", uids.at(-1) ?? ""];
  const searches = Array.from({ length: 4 }, () => times.find(some));
  times.add(["u0"], 0);
  const [first, ...others] = await Promise.all(searches);
  expect(first?.size).toBe(2);
  for (const found of others)
    expect(found).toEqual(
      new Map([
        ["u0", 0],
        ["u19999", 1],
      ]),
    );
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
