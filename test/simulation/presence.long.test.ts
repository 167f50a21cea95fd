import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn } from "../../src/lib/event-loop/next-turn.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import type { Driver } from "../../src/store/sql/driver.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createRandom } from "../harness/random.ts";
import { plantedPresenceBugs } from "./presence/faulty.ts";
import { type Product, product } from "./presence/node.ts";
import { simulatePresence } from "./presence/world.ts";
import { searchTimeoutMs } from "./search.ts";

const firstSeed = createRandom().seed;
const seeds = process.env.TEST_SEED === undefined ? Number(process.env.SIMULATION_SEEDS ?? 150) : 1;
const mostSeedsOfBug = 300;

describe("webhooks that are told who comes and goes, by nodes that die, freeze and are cut off", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-presence-"));
  let driver: Driver | undefined;

  beforeAll(async () => {
    driver = openSqlite(join(folder, "herald.db"));
    await migrateStore(driver);
    await nextTurn(); // the database takes one after each transaction, which must not wait for simulated time
  });
  afterAll(async () => {
    await driver?.close();
    rmSync(folder, { recursive: true });
  });

  function findBroken(count: number, tested: Product, sign = /./) {
    if (driver === undefined) throw new Error("the database is there while tests run");
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const report = simulatePresence(seed, driver, tested);
      if (report.broken.some((broken) => sign.test(broken))) return report;
    }
    return undefined;
  }

  test(
    "know who is online, whatever the seed",
    () => expect(findBroken(seeds, product)).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(plantedPresenceBugs))(
    "are found to be told wrong if %s",
    (_, { product: faulty, sign }) => expect(findBroken(mostSeedsOfBug, faulty, sign)).toBeDefined(),
    searchTimeoutMs,
  );
});
