import { describe, expect, test } from "bun:test";
import { faultless } from "./faulty/faultless.ts";
import { seedsWithoutBug, testPlanted } from "./planted.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { findBroken, searchTimeoutMs } from "./search.ts";

testPlanted(plantedBugs);

describe.skipIf(process.env.TEST_SEED !== undefined)("where bugs are planted, a part without one", () => {
  test.each(Object.entries(faultless))(
    "breaks no promise: %s",
    (_, product) => expect(findBroken(1, seedsWithoutBug, { product, hasInboxes: true })).toBeUndefined(),
    searchTimeoutMs,
  );
});
