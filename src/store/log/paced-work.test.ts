import { expect, test } from "bun:test";
import { createPacedWork } from "./paced-work.ts";

/** Runs pieces, and returns when each began and ended, in the order in which they began. */
async function runAll(isSending: boolean, restPerMs: number, pieces: [org: string, ms: number][]) {
  const paced = createPacedWork({ isSending: () => isSending, restPerMs });
  const seen: { org: string; from: number; to: number }[] = [];
  const run = ([org, ms]: [org: string, ms: number]) =>
    paced.run(org, async () => {
      const from = performance.now();
      await Bun.sleep(ms);
      seen.push({ org, from, to: performance.now() });
    });
  await Promise.all(pieces.map(run));
  const pauses = seen.slice(1).map(({ from }, index) => from - (seen[index]?.to ?? from));
  return { orgs: seen.map(({ org }) => org), pauses };
}

test("pieces run one at a time, organizations in turns", async () => {
  const { orgs, pauses } = await runAll(false, 2, [
    ["a", 2],
    ["a", 2],
    ["a", 2],
    ["b", 2],
  ]);
  expect(orgs).toEqual(["a", "a", "b", "a"]); // the first runs at once, before b is there
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
});

test("while anybody sends, a rest follows each piece in proportion to it", async () => {
  const { pauses } = await runAll(true, 2, [
    ["a", 20],
    ["a", 1],
  ]);
  expect(pauses[0]).toBeGreaterThanOrEqual(38); // timers may be a millisecond early
});

test("a piece that had to wait long is not followed by an even longer rest", async () => {
  const { pauses } = await runAll(true, 100, [
    ["a", 100],
    ["a", 1],
  ]);
  expect(pauses[0]).toBeWithin(98, 5_000);
});

test("a failed piece rejects, and the next runs", async () => {
  const paced = createPacedWork({ isSending: () => true, restPerMs: 1 });
  const failed = paced.run("a", () => Promise.reject(new Error("this one")));
  const next = paced.run("a", async () => "the next");
  await expect(failed).rejects.toThrow("this one");
  expect(await next).toBe("the next");
});
