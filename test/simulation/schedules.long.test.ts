import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn } from "../../src/lib/event-loop/next-turn.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import type { Driver } from "../../src/store/sql/driver.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createRandom } from "../harness/random.ts";
import { plantedScheduleBugs } from "./schedules/faulty.ts";
import { type Product, product } from "./schedules/node.ts";
import { simulateSchedule } from "./schedules/world.ts";
import { searchTimeoutMs } from "./search.ts";

const firstSeed = createRandom().seed;
const seeds = process.env.TEST_SEED === undefined ? Number(process.env.SIMULATION_SEEDS ?? 300) : 1;
const mostSeedsOfBug = 300;

describe("scheduled sends of callers who replace and cancel them, on nodes that die and a database that is away", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-schedules-"));
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
      const report = simulateSchedule(seed, driver, tested);
      if (report.broken.some((broken) => sign.test(broken))) return report;
    }
    return undefined;
  }

  test(
    "are sent once and at their time, or cancelled, whatever the seed",
    () => expect(findBroken(seeds, product)).toBeUndefined(),
    searchTimeoutMs,
  );

  test.each(Object.entries(plantedScheduleBugs))(
    "are found to be broken if %s",
    (_, { product: faulty, sign }) => expect(findBroken(mostSeedsOfBug, faulty, sign)).toBeDefined(),
    searchTimeoutMs,
  );
});
