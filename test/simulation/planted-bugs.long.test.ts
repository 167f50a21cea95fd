import { describe, expect, test } from "bun:test";
import { faultless } from "./faulty/faultless.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { plantedInboxBugs } from "./planted-inbox-bugs.ts";
import { product } from "./product.ts";
import { findBroken, searchTimeoutMs } from "./search.ts";

const bugs = { ...plantedBugs, ...plantedInboxBugs };
const seedsForBugs = 2_000;
const seedsForParts = 200;

describe.skipIf(process.env.TEST_SEED !== undefined)("where bugs are planted, a part without one", () => {
  test.each(Object.entries(faultless))(
    "breaks no promise: %s",
    (_, product) => expect(findBroken(1, seedsForParts, { product, hasInboxes: true })).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(bugs).filter(([, { climate }]) => climate !== undefined))(
    "breaks none even in the world in which this bug is looked for: %s",
    (_, { climate = {}, hasInboxes = false }) =>
      expect(findBroken(1, seedsForParts, { product, climate, hasInboxes })).toBeUndefined(),
    searchTimeoutMs,
  );
});

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation finds it when", () => {
  test.each(Object.entries(bugs))(
    "%s",
    (_, { sign, ...variant }) => expect(findBroken(1, seedsForBugs, variant, sign)?.broken).toBeArray(),
    searchTimeoutMs,
  );
});
