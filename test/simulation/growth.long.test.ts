import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { plantedGrowthBugs } from "./growth/faulty.ts";
import { product } from "./growth/node.ts";
import { useGrowthWorlds } from "./growth/search.ts";
import { searchTimeoutMs } from "./search.ts";

const firstSeed = createRandom().seed;
const seeds = Number(process.env.SIMULATION_SEEDS ?? 200);
const mostSeedsOfBug = 300;

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation of messages that grow", () => {
  const findBroken = useGrowthWorlds();

  test(
    "finds nothing in many more worlds",
    () => expect(findBroken(firstSeed, seeds, product)).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(plantedGrowthBugs))(
    "finds it when %s",
    (_, { product: faulty, sign }) => expect(findBroken(firstSeed, mostSeedsOfBug, faulty, sign)).toBeDefined(),
    searchTimeoutMs,
  );
});
