import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { product } from "./growth/node.ts";
import { useGrowthWorlds } from "./growth/search.ts";
import { searchTimeoutMs } from "./search.ts";

const seeds = process.env.TEST_SEED === undefined ? 20 : 1;

describe("messages that grow, on nodes that die and a bus that fails", () => {
  const findBroken = useGrowthWorlds();

  test(
    "say the same to everyone, whatever the seed",
    () => expect(findBroken(createRandom().seed, seeds, product)).toBeUndefined(),
    searchTimeoutMs,
  );
});
