import { expect, test } from "bun:test";
import { leftBehind } from "./left-behind.ts";

/** Reports counts like a node, one set after another, repeating the last. */
function serveCounts(...sets: Record<string, number>[]) {
  const server = Bun.serve({
    port: 0,
    fetch() {
      const counts = sets.length > 1 ? sets.shift() : sets[0];
      const lines = Object.entries(counts ?? {}).map(([what, count]) => `herald_held{what="${what}"} ${count}`);
      return new Response(["# TYPE herald_held gauge", ...lines, "other 3", ""].join("\n"));
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, key: "a key", [Symbol.dispose]: () => void server.stop(true) };
}

test("what is released slightly later is not left behind", async () => {
  using node = serveCounts({ joined: 2, timers: 1 }, { joined: 0, timers: 1 }, { joined: 0, timers: 0 });
  expect(await leftBehind([node])).toEqual([]);
});

test("what stays is named, for each node", async () => {
  using good = serveCounts({ joined: 0 });
  using bad = serveCounts({ joined: 0, user_places: 25 });
  expect(await leftBehind([good, bad], 50)).toEqual([`${bad.url} holds 25 user_places when all have left`]);
});

test("a node that does not say what it holds is at fault", async () => {
  using node = serveCounts({});
  expect(await leftBehind([node], 50)).toEqual([`${node.url} has no herald_held`]);
});
