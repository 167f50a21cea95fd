import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const seeds = Number(process.env.SIMULATION_SEEDS ?? 1_000);

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation with feeds", () => {
  test.each([false, true])(
    "finds nothing in many more worlds (inboxes: %p)",
    (hasInboxes) => expectWhole(createRandom().seed, seeds, { product, hasFeeds: true, hasInboxes }),
    searchTimeoutMs,
  );

  test(
    "consumers are shown very much, stop and go on, and come too late in some worlds",
    () => {
      const worlds = Array.from({ length: 300 }, (_, index) => simulate(index + 1, { product, hasFeeds: true }));
      const sum = (of: "shown" | "refusals") => worlds.reduce((total, { figures }) => total + figures[of], 0);
      expect(sum("shown")).toBeGreaterThan(10_000);
      expect(sum("refusals")).toBeGreaterThan(15);
    },
    searchTimeoutMs,
  );
});
