import { expect, test } from "bun:test";
import { costNames } from "../harness/report/costs.ts";
import { costsOf, readKnownCosts } from "./known-costs.ts";
import { sampleCosts } from "./sample-costs.ts";

test("costs are the medians of the rounds", () => {
  const runs = [3, 1, 2].map((factor) =>
    Object.fromEntries(costNames().map((name) => [name, sampleCosts[name] * factor])),
  );
  expect(costsOf({ herald: runs }).socketBytes).toBe(sampleCosts.socketBytes * 2);
});

test("a cost that was not measured is named", () => {
  const { pingCpu: _, ...others } = sampleCosts;
  expect(() => costsOf({ herald: [others] })).toThrow("pingCpu");
});

test("the results of the bench hold every cost, and say when and where they were measured", () => {
  const { costs, rounds, setting } = readKnownCosts();
  expect(rounds).toBeGreaterThan(0);
  expect(Date.parse(setting.date)).toBeGreaterThan(0);
  for (const name of costNames()) expect({ name, value: costs[name] }).toEqual({ name, value: expect.any(Number) });
});
