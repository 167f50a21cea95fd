import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import type { Hearing } from "./models/client.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const isOneSeed = process.env.TEST_SEED !== undefined;
const firstSeed = createRandom().seed;
const seeds = isOneSeed ? 1 : 500;

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

  test(
    "every kind of trouble occurs in some world",
    () => {
      const hearings = Array.from({ length: 1_000 }, (_, index) => simulate(index + 1, { product }).hearings).flat();
      const count = (isWanted: (hearing: Hearing) => boolean) => hearings.filter(isWanted).length;
      const replayed = ({ head = 0, heard }: Hearing) => heard.filter(({ event }) => event.offset <= head).length;
      for (const code of [1006, 1011, 1012, 4401, 4403])
        expect(count(({ ended }) => ended?.code === code && !ended.byClient)).toBeGreaterThan(17);
      expect(count(({ answer }) => answer?.recovered === false)).toBeGreaterThan(167);
      expect(count((hearing) => replayed(hearing) > 0)).toBeGreaterThan(167);
      expect(count((hearing) => replayed(hearing) > 50)).toBeGreaterThan(3);
      expect(count(({ ended, heard }) => ended === undefined && heard.length > 10)).toBeGreaterThan(167);
    },
    searchTimeoutMs,
  );
});
