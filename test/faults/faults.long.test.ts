import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { repeatCommand, runScenario } from "./run-scenario.ts";
import type { AnyScenario } from "./scenario.ts";
import { scenarios } from "./scenarios/all.ts";

setDefaultTimeout(180_000);

describe("nothing acknowledged is lost, duplicated or misordered by", () => {
  const short = scenarios.filter(({ rounds }) => rounds.short > 0);
  test.each(short.map((scenario): [string, AnyScenario] => [scenario.name, scenario]))("%s", async (_, scenario) => {
    const options = { seed: createRandom().seed, size: "short" as const };
    const seen = await runScenario(scenario, options);
    const again = repeatCommand(scenario, options);
    expect({ again, faults: seen?.faults ?? [] }).toEqual({ again, faults: [] });
  });
});
