import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { plantedBugs, withProduct } from "./planted-bugs.ts";
import { expectWhole, findBroken, searchTimeoutMs } from "./search.ts";

const seeds = Number(process.env.SIMULATION_SEEDS ?? 3_000);
const seedsForBugs = 2_000;

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation", () => {
  test(
    "finds nothing in many more worlds",
    () => withProduct([], (product) => expectWhole(createRandom().seed, seeds, { product })),
    searchTimeoutMs,
  );
});

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation finds it when", () => {
  for (const { name, changes = [], ...variant } of plantedBugs) {
    test(
      name,
      () =>
        withProduct(changes, (product) => {
          const report = findBroken(1, seedsForBugs, { product, ...variant });
          expect(report?.broken ?? []).not.toBeEmpty();
        }),
      searchTimeoutMs,
    );
  }
});
