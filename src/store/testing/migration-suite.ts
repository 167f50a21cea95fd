import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { migrateStore } from "../migrate.ts";
import { migrationOf, migrations } from "../migrations.ts";
import type { Driver } from "../sql/driver.ts";

const last = migrations.length;

/** All migrations, and one more. */
export function withMigration(sql: string) {
  return [...migrations, migrationOf("9999-sample", sql)];
}

/** Creates organizations with `events` events each. */
export async function fillEvents(driver: Driver, orgs: readonly string[], events: number): Promise<void> {
  for (const org of orgs) {
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.run("INSERT INTO organization (id, head, created_at) VALUES (?, ?, 1)", org, events);
      const rows = Array.from({ length: events }, (_, index) => ({
        org,
        offset: index + 1,
        kind: "message",
        id: `${org}-${index + 1}`,
        payload: "{}",
        created_at: 1,
      }));
      await sql.rows.insert("event", rows);
    });
  }
}

const shade = `-- expand, 9.0.0
ALTER TABLE event ADD COLUMN shade BIGINT;

-- backfill: event (org, "offset")
UPDATE event SET shade = "offset" * 2 WHERE shade IS NULL;

CREATE INDEX CONCURRENTLY event_by_shade ON event (org, shade);
`;

/** Tests migrating, for every engine. */
export function describeMigration(
  engine: string,
  open: () => Promise<{ driver: Driver; dispose(): Promise<void> }>,
): void {
  describe(`the schema on ${engine}`, () => {
    let context: Awaited<ReturnType<typeof open>>;
    let driver: Driver;

    beforeEach(async () => {
      context = await open();
      ({ driver } = context);
    });
    afterEach(() => context.dispose());

    const oldest = async () => Number((await driver.all("SELECT version FROM schema_version"))[0]?.version);

    test("of a new database is created as a whole or not at all", async () => {
      const isThere = async (table: string) => (await driver.all(driver.dialect.findTable, table)).length > 0;
      const known = withMigration(
        "-- expand, 9.0.0\nCREATE TABLE beside (place BIGINT);\nCREATE TABLE event (id TEXT);\n",
      );
      const failure = await migrateStore(driver, { known }).catch((error: unknown) => error);
      expect(String(failure)).toContain("already exists");
      expect([await isThere("event"), await isThere("beside")]).toEqual([false, false]);
      expect(await migrateStore(driver)).toEqual({ from: 0, to: last });
      expect(await isThere("event")).toBe(true);
    });

    test("is expanded by batches of rows and an index, and earlier versions may still use it", async () => {
      await migrateStore(driver);
      await fillEvents(driver, ["o1", "o2"], 1_700);
      const told: [string, unknown][] = [];
      const tell = (message: string, { step }: Record<string, unknown>) => void told.push([message, step]);
      expect(await migrateStore(driver, { known: withMigration(shade), tell })).toEqual({ from: last, to: last + 1 });
      for (const org of ["o1", "o2"]) {
        const count = `SELECT COUNT(*) AS events FROM event WHERE org = ? AND shade = "offset" * 2`;
        expect(Number((await driver.allOf(org, count, org))[0]?.events)).toBe(1_700);
      }
      expect(told).toEqual([
        ["migrating the database", 1],
        ["migrating the database", 2],
        ["migrating the database", 3],
        ["migrated the database", undefined],
      ]);
      expect(await oldest()).toBe(8);
      expect(await migrateStore(driver)).toEqual({ from: last + 1, to: last + 1 }); // the previous version starts again
      expect(await migrateStore(driver, { known: withMigration(shade) })).toEqual({ from: last + 1, to: last + 1 });
      const steps = await driver.all(
        "SELECT name, step, rows, done_at FROM schema_step WHERE name = '9999-sample' ORDER BY step",
      );
      expect(steps.map((row) => [Number(row.step), Number(row.rows), Number(row.done_at) > 0])).toEqual([
        [0, 0, true],
        [1, 3_400, true],
        [2, 0, true],
      ]);
    });

    test("is contracted, and earlier versions may no longer use it", async () => {
      await migrateStore(driver);
      const known = withMigration(
        "-- contract, 9.1.0: ends 9998-before\nALTER TABLE participant DROP COLUMN created_at;\n",
      );
      expect(await migrateStore(driver, { known })).toEqual({ from: last, to: last + 1 });
      expect(await oldest()).toBe(last + 1);
      const refusal = await migrateStore(driver).catch((error: unknown) => error);
      expect(String(refusal)).toContain("newer Herald");
    });

    test("resumes where it was interrupted, and repeats nothing", async () => {
      await migrateStore(driver);
      await driver.transaction(async (sql) => {
        await sql.run("CREATE TABLE probe (place BIGINT PRIMARY KEY, done BIGINT CHECK (done <> 1500))");
        await sql.rows.insert(
          "probe",
          Array.from({ length: 2_500 }, (_, index) => ({ place: index + 1 })),
        );
      });
      const known = withMigration(`-- expand, 9.0.0
CREATE TABLE beside (place BIGINT);
-- backfill: probe (place)
UPDATE probe SET done = place WHERE done IS NULL;
`);
      const done = async () =>
        Number((await driver.all("SELECT COUNT(*) AS places FROM probe WHERE done = place"))[0]?.places);
      const failure = await migrateStore(driver, { known }).catch((error: unknown) => error);
      expect(String(failure)).toMatch(/check constraint/i);
      expect(await done()).toBe(1_000);
      await driver.transaction(async (sql) => {
        await sql.run("DELETE FROM probe WHERE place = 1500");
        await sql.run("UPDATE probe SET done = NULL WHERE place = 1"); // shows that this row is not visited again
      });
      expect(await migrateStore(driver, { known })).toEqual({ from: last, to: last + 1 });
      expect(await done()).toBe(2_498);
    });
  });
}
