import { describe, expect, test } from "bun:test";
import type { PlantedBug } from "./planted-bugs.ts";
import { product } from "./product.ts";
import { findBroken, searchTimeoutMs } from "./search.ts";
import type { Variant } from "./world.ts";

const seedsForBugs = 2_000;
/** Worlds in which nothing may be found, as nothing is broken in them. */
export const seedsWithoutBug = 200;

/** Defines the tests that the simulation finds each of these bugs, and without them nothing in the same worlds. */
export function testPlanted(bugs: Readonly<Record<string, PlantedBug>>): void {
  describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation finds it when", () => {
    test.each(Object.entries(bugs))(
      "%s",
      (_, { sign, ...variant }) => expect(findBroken(1, seedsForBugs, variant, sign)?.broken).toBeArray(),
      searchTimeoutMs,
    );
  });

  describe.skipIf(process.env.TEST_SEED !== undefined)("without a bug, nothing is found in the world in which", () => {
    test.each(Object.entries(distinctWorlds(bugs)))(
      "%s",
      (_, world) => expect(findBroken(1, seedsWithoutBug, { ...world, product })).toBeUndefined(),
      searchTimeoutMs,
    );
  });
}

/** The worlds of their own that bugs are looked for in, each once, by the first such bug. */
function distinctWorlds(bugs: Readonly<Record<string, PlantedBug>>): Record<string, Omit<Variant, "product">> {
  const worlds = new Map<string, [string, Omit<Variant, "product">]>();
  for (const [name, { climate, hasInboxes = false, hasFeeds = false }] of Object.entries(bugs)) {
    if (climate === undefined) continue;
    const world = { climate, hasInboxes, hasFeeds };
    const key = JSON.stringify(world);
    if (!worlds.has(key)) worlds.set(key, [name, world]);
  }
  return Object.fromEntries(worlds.values());
}
