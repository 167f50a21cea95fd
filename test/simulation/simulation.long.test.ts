import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { faultless } from "./faulty/faultless.ts";
import type { Hearing } from "./models/client.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { product } from "./product.ts";
import { expectWhole, findBroken, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const seeds = Number(process.env.SIMULATION_SEEDS ?? 3_000);
const seedsForBugs = 2_000;
const seedsForParts = 200;

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation", () => {
  test(
    "finds nothing in many more worlds",
    () => expectWhole(createRandom().seed, seeds, { product }),
    searchTimeoutMs,
  );

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
      const hears = (kind: string) => count(({ heard }) => heard.some(({ event }) => event.kind === kind));
      expect([hears("edit"), hears("recall")].map((times) => times > 500)).toEqual([true, true]);
      const isRecalled = ({ head = 0, heard }: Hearing) =>
        heard.some(({ event }) => event.kind === "recall" && event.offset <= head);
      expect(count(isRecalled)).toBeGreaterThan(100);
    },
    searchTimeoutMs,
  );
});

describe.skipIf(process.env.TEST_SEED !== undefined)("where bugs are planted, a part without one", () => {
  test.each(Object.entries(faultless))(
    "breaks no promise: %s",
    (_, product) => expect(findBroken(1, seedsForParts, { product })).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(plantedBugs).filter(([, { climate }]) => climate !== undefined))(
    "breaks none even in the world in which this bug is looked for: %s",
    (_, { climate = {} }) => expect(findBroken(1, seedsForParts, { product, climate })).toBeUndefined(),
    searchTimeoutMs,
  );
});

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation finds it when", () => {
  test.each(Object.entries(plantedBugs))(
    "%s",
    (_, variant) => expect(findBroken(1, seedsForBugs, variant)?.broken).toBeArray(),
    searchTimeoutMs,
  );
});
