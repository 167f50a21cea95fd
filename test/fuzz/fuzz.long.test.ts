import { expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { fuzz, fuzzSettings } from "./run.ts";

const herald = useHerald({ env: fuzzSettings });
const cases = 1_000;
const mostBytes = 400 * 1024 * 1024; // with 24 callers, of which some have bodies of megabytes

test("promise 8: hostile input of any kind gets a documented response, and an ordinary conversation continues beside it", async () => {
  const { seed } = createRandom();
  const report = await fuzz({ herald: herald(), seed, isOver: (number) => number >= cases });
  const replay = report.unexpected.map((one) => ({
    ...one,
    replay: `npm run fuzz -- --seed ${one.seed} --case ${one.number}`,
  }));
  expect(replay).toEqual([]);
  expect(report.cases).toBe(cases);
  expect(report.errorsLogged).toEqual([]);
  expect(report.mostBytes).toBeGreaterThan(0);
  expect(report.mostBytes).toBeLessThan(mostBytes);
});
