import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../../../test/harness/deadline.ts";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { migrateStore } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import type { Driver } from "../sql/driver.ts";
import { describeMigration, fillEvents, withMigration } from "../testing/migration-suite.ts";
import { connectPostgres } from "./postgres.ts";

setDefaultTimeout(60_000);

const last = migrations.length;
const slowBackfill = `-- expand, 9.0.0
ALTER TABLE event ADD COLUMN shade BIGINT;
-- backfill: event (org, "offset")
UPDATE event SET shade = LENGTH(CAST(pg_sleep(0.0005) AS text)) WHERE shade IS NULL;
`;

const postgres = await startPostgres();
if (postgres !== undefined) {
  const server = postgres;
  afterAll(() => postgres.stop());

  /** Creates a database with events, and a function that opens further drivers on it. */
  async function openDatabase(events = 0) {
    const url = await server.createDatabase();
    const stack = new AsyncDisposableStack();
    const connect = (options = {}) => stack.adopt(connectPostgres(url, options), (driver) => driver.close());
    const driver = connect();
    await migrateStore(driver);
    await fillEvents(driver, ["o"], events);
    return { url, driver, connect, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  const insert = `INSERT INTO event (org, "offset", kind, id, payload, created_at) VALUES ('o', ?, 'message', ?, '{}', 1)`;

  describeMigration("PostgreSQL", async () => {
    const driver = connectPostgres(await postgres.createDatabase());
    return { driver, dispose: () => driver.close() };
  });

  describe("the schema on PostgreSQL", () => {
    test("changes without the time limits of other statements", async () => {
      await using database = await openDatabase();
      const hasty = database.connect({ statement: 50, idleTransaction: 50, deadline: 100 });
      const limits = ["statement_timeout", "idle_in_transaction_session_timeout"];
      const name = new URL(database.url).pathname.slice(1);
      for (const limit of limits) await database.driver.run(`ALTER DATABASE ${name} SET ${limit} = 50`);
      const known = withMigration(
        "-- expand, 9.0.0\nCREATE TABLE shade AS SELECT CAST(pg_sleep(0.5) AS text) AS slept;\n",
      );
      expect(await migrateStore(hasty, { known })).toEqual({ from: last, to: last + 1 });
    });

    test("is changed by one node at a time; the others wait, say so, and find it done", async () => {
      await using database = await openDatabase(1_500);
      const known = withMigration(slowBackfill);
      const migrate = async (driver: Driver) => {
        const told: string[] = [];
        const { from } = await migrateStore(driver, { known, tell: (message) => void told.push(message) });
        return { from, told };
      };
      const both = await Promise.all([migrate(database.driver), migrate(database.connect())]);
      const [first, second] = both.sort((left, right) => left.from - right.from);
      expect([first?.from, second?.from]).toEqual([last, last + 1]);
      const waits = "waiting for another node to migrate the database";
      expect(first?.told).not.toContain(waits);
      expect(new Set(second?.told)).toEqual(new Set([waits])); // more than once on a slow machine
    });

    test("is completed by the next node if one dies within a step", async () => {
      await using database = await openDatabase(3_000);
      const known = withMigration(slowBackfill);
      const first = migrateStore(database.driver, { known }).catch((error: unknown) => error);
      const rowsDone = () =>
        database.driver.all<{ rows: number }>("SELECT rows FROM schema_step WHERE name = '9999-sample' AND step = 1");
      await eventually(async () => ((await rowsDone()).length > 0 ? true : undefined), "the first rows to be done");
      const waiting = migrateStore(database.connect(), { known });
      const end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'herald migration' AND state <> 'idle' AND query NOT LIKE '%try_advisory%'";
      await eventually(
        async () => ((await database.driver.all(end)).length > 0 ? true : undefined),
        "a connection to end",
      );
      expect(await first).toBeInstanceOf(Error);
      expect(await waiting).toEqual({ from: last, to: last + 1 });
      const count = "SELECT COUNT(*) AS events FROM event WHERE org = 'o' AND shade IS NOT NULL";
      expect(Number((await database.driver.allOf("o", count))[0]?.events)).toBe(3_000);
    });

    test("delays no send for long while the migration waits for a table that somebody reads", async () => {
      await using database = await openDatabase(1);
      const reading = Promise.withResolvers<void>();
      const read = Promise.withResolvers<void>();
      const reader = database.connect().transaction(async (sql) => {
        await sql.all("SELECT COUNT(*) FROM event");
        reading.resolve();
        await read.promise;
      });
      await reading.promise;
      let tries = 0;
      const known = withMigration("-- expand, 9.0.0\nALTER TABLE event ADD COLUMN shade BIGINT;\n");
      const migrated = migrateStore(database.driver, {
        known,
        tell: (_, facts) => {
          tries = Number(facts.tries ?? tries);
        },
      });
      const took: number[] = [];
      for (let offset = 2; tries < 3; offset++) {
        const startedAt = performance.now();
        await database.driver.transaction(async (sql) => {
          await sql.limitTo(["o"]);
          await sql.run(insert, offset, `id-${offset}`);
        });
        took.push(performance.now() - startedAt);
        await Bun.sleep(5);
      }
      expect(took.length).toBeGreaterThan(3);
      expect(Math.max(...took)).toBeLessThan(2_000);
      read.resolve();
      await reader;
      expect(await migrated).toEqual({ from: last, to: last + 1 });
    });

    test("gets a complete index in place of one left incomplete, and keeps one left complete", async () => {
      await using database = await openDatabase(2);
      const { driver, url } = database;
      const index = "CREATE INDEX CONCURRENTLY event_by_kind ON event (org, kind)";
      const halfMade = Bun.spawnSync(["psql", url, "-c", index.replace("INDEX", "UNIQUE INDEX")]);
      expect(String(halfMade.stderr)).toContain("could not create unique index");
      const indexes = () =>
        driver.all<{ oid: number; valid: number }>(
          "SELECT CAST(indexrelid AS BIGINT) AS oid, indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('event_by_kind')",
        );
      expect([...(await indexes())]).toMatchObject([{ valid: false }]);
      const known = withMigration(`-- expand, 9.0.0\n${index};\n`);
      await migrateStore(driver, { known });
      const [made] = await indexes();
      expect(made).toMatchObject({ valid: true });
      await driver.run("DELETE FROM schema_step WHERE name = '9999-sample'"); // it died before recording that
      expect(await migrateStore(driver, { known })).toEqual({ from: last, to: last + 1 });
      expect([...(await indexes())]).toEqual([made as never]);
    });
  });
}
