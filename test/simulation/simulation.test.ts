import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const isOneSeed = process.env.TEST_SEED !== undefined;
const firstSeed = createRandom().seed;
const seeds = isOneSeed ? 1 : 430;
const seedsWithInboxes = isOneSeed ? 1 : 200;
const seedsWithFeeds = isOneSeed ? 1 : 100;

describe("several nodes, writers and clients on a failing bus", () => {
  test(
    "every connection hears every event once, in order and in time, whatever the seed",
    () => expectWhole(firstSeed, seeds, { product }),
    searchTimeoutMs,
  );

  test(
    "every inbox, count and page agrees with the log, and so does what connections hear of them",
    () => expectWhole(firstSeed, seedsWithInboxes, { product, hasInboxes: true }),
    searchTimeoutMs,
  );

  test.each([false, true])(
    "every feed shows the log in order, without a hole, and what is gone without its text (inboxes: %p)",
    (hasInboxes) => expectWhole(firstSeed, seedsWithFeeds, { product, hasFeeds: true, hasInboxes }),
    searchTimeoutMs,
  );

  test.each([false, true])(
    "the same seed gives the same world, and another seed another (inboxes: %p)",
    (hasInboxes) => {
      const play = (seed: number) => simulate(seed, { product, hasInboxes }, true).trace;
      for (let seed = 1; seed <= 20; seed++) {
        const trace = play(seed);
        expect(play(seed)).toEqual(trace);
        expect(play(seed + 1)).not.toEqual(trace);
      }
    },
    searchTimeoutMs,
  );
});
