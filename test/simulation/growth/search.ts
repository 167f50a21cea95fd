import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn } from "../../../src/lib/event-loop/next-turn.ts";
import { migrateStore } from "../../../src/store/migrate.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import type { Product } from "./node.ts";
import { type GrowthReport, simulateGrowth } from "./world.ts";

/**
 * Opens a database for the worlds of a test file. Returns the search, in one world per seed, for the first in which a promise was
 * broken that reads like `sign`.
 */
export function useGrowthWorlds() {
  const folder = mkdtempSync(join(tmpdir(), "herald-growth-"));
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

  return function findBroken(first: number, count: number, product: Product, sign = /./): GrowthReport | undefined {
    if (driver === undefined) throw new Error("the database is there while tests run");
    for (let seed = first; seed < first + count; seed++) {
      const report = simulateGrowth(seed, driver, product);
      if (report.broken.some((broken) => sign.test(broken))) return report;
    }
    return undefined;
  };
}
