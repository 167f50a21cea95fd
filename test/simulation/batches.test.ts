import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { plantedBatchBugs } from "./batches/faulty.ts";
import { type Product, product, simulateBatch } from "./batches/world.ts";
import { searchTimeoutMs } from "./search.ts";

const firstSeed = createRandom().seed;
const seeds = process.env.TEST_SEED === undefined ? Number(process.env.SIMULATION_SEEDS ?? 24) : 1;
const mostSeedsOfBug = 300;

function findBroken(count: number, product: Product) {
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const report = simulateBatch(seed, product);
    if (report.broken.length > 0) return report;
  }
  return undefined;
}

describe("a batch sent to nodes that stop and die, again and again, until all of it is answered", () => {
  test(
    "is stored once and in order, and answered line by line, whatever the seed",
    () => expect(findBroken(seeds, product)).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(plantedBatchBugs))("is found to be broken if %s", (_, faulty) => {
    expect(findBroken(mostSeedsOfBug, faulty)).toBeDefined();
  });
});
