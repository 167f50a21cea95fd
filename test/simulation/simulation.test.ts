import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const isOneSeed = process.env.TEST_SEED !== undefined;
const firstSeed = createRandom().seed;
const seeds = isOneSeed ? 1 : 430;

describe("several nodes, writers and clients on a failing bus", () => {
  test(
    "every connection hears every event once, in order and in time, whatever the seed",
    () => expectWhole(firstSeed, seeds, { product }),
    searchTimeoutMs,
  );

  test("the same seed gives the same world, to the last line, and another seed a different one", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { trace } = simulate(seed, { product }, true);
      expect(simulate(seed, { product }, true).trace).toEqual(trace);
      expect(simulate(seed + 1, { product }, true).trace).not.toEqual(trace);
    }
  });
});
