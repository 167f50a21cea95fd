import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Turn } from "../../lib/queues/queue.ts";
import { migrateStore } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import { expectCountsAfterVersion9 } from "../testing/budget-suite.ts";
import { expectParticipantsAfterVersion7 } from "../testing/delivery-suite.ts";
import { describeEngine } from "../testing/engine-suite.ts";
import { expectKeysAfterVersion1, expectKeysOfDeletedOrganization } from "../testing/keys-suite.ts";
import {
  expectHeadsAfterVersion8,
  expectUnknownKinds,
  messageOf,
  type OpenDatabase,
  openStore,
} from "../testing/log-suite.ts";
import { describeMigration } from "../testing/migration-suite.ts";
import { expectRemovalsAfterVersion6 } from "../testing/retention-suite.ts";
import { describeSizes } from "../testing/sizes-suite.ts";
import { createTestWrites } from "../testing/test-store.ts";
import { DatabaseInUseError, openSqlite } from "./sqlite.ts";
import { openSqliteThread } from "./thread.ts";

const mebibyte = 1024 * 1024;

function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), "herald-store-"));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

function openInFolder() {
  const { folder, remove } = createFolder();
  const file = join(folder, "herald.db");
  return { file, driver: openSqlite(file), remove };
}

async function openThread(announce: Parameters<OpenDatabase>[0] = () => undefined) {
  const { folder, remove } = createFolder();
  const onCrash = (error: Error) => {
    throw error;
  };
  const database = await openSqliteThread(join(folder, "herald.db"), { announce, onCrash });
  return { ...database, close: () => database.close().then(remove) };
}

const engines: Record<string, OpenDatabase> = {
  async "SQLite in this thread"(announce) {
    const { driver, remove } = openInFolder();
    await migrateStore(driver);
    return { reader: driver, writes: createTestWrites(driver, announce), close: () => driver.close().then(remove) };
  },
  "SQLite in a thread of its own": openThread,
};

describeSizes("SQLite", openThread);

describeMigration("SQLite", async () => {
  const { driver, remove } = openInFolder();
  return { driver, dispose: () => driver.close().then(remove) };
});

for (const [engine, open] of Object.entries(engines)) describeEngine(engine, open);

describe("SQLite", () => {
  test("has statistics for every index", async () => {
    const { driver, remove } = openInFolder();
    await migrateStore(driver);
    const indexes = await driver.all("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name");
    const known = await driver.all("SELECT idx AS name FROM sqlite_stat1 ORDER BY idx");
    expect(known).toEqual(indexes);
    await driver.close();
    remove();
  });

  test("is migrated once; the schema of a newer version prevents the start", async () => {
    const { driver, remove } = openInFolder();
    const to = migrations.length;
    expect(await migrateStore(driver)).toEqual({ from: 0, to });
    expect(await migrateStore(driver)).toEqual({ from: to, to });
    await driver.transaction((sql) => sql.run("UPDATE schema_version SET version = 99"));
    await expect(migrateStore(driver)).rejects.toThrow("newer Herald");
    await driver.close();
    remove();
  });

  test("refuses the tokens of organizations deleted by a version that kept them valid", async () => {
    const { driver, remove } = openInFolder();
    await migrateStore(driver, { to: 3 });
    const insert = "INSERT INTO organization (id, created_at, deleted_at) VALUES ('o', 1, NULL), ('gone', 1, 5)";
    await driver.transaction((sql) => sql.run(insert));
    expect(await migrateStore(driver)).toEqual({ from: 3, to: migrations.length });
    expect(await driver.all("SELECT id, tokens_valid_after FROM organization ORDER BY id")).toEqual([
      { id: "gone", tokens_valid_after: 5 },
      { id: "o", tokens_valid_after: 0 },
    ]);
    await driver.close();
    remove();
  });

  test("of an earlier version is upgraded with its contents", async () => {
    const { driver, remove } = openInFolder();
    await expectKeysAfterVersion1(driver);
    expect(await driver.all("SELECT * FROM node")).toEqual([]);
    await driver.close();
    remove();
  });

  test("revokes keys left by a deletion before the organization is created again", async () => {
    const { driver, remove } = openInFolder();
    await expectKeysOfDeletedOrganization(driver);
    await driver.close();
    remove();
  });

  test("of the version before retention loses only what had been deleted", async () => {
    const { driver, remove } = openInFolder();
    await expectRemovalsAfterVersion6(driver);
    await driver.close();
    remove();
  });

  test("counts the events of versions without counts, written before its migration and beside it", async () => {
    const { driver, remove } = openInFolder();
    await expectCountsAfterVersion9(driver);
    await driver.close();
    remove();
  });

  test("of the version before head ids finds them in the log", async () => {
    const { driver, remove } = openInFolder();
    await expectHeadsAfterVersion8(driver);
    await driver.close();
    remove();
  });

  test("can be read with events of kinds from a later version", async () => {
    const { driver, remove } = openInFolder();
    await expectUnknownKinds(driver);
    await driver.close();
    remove();
  });

  test("of the version before delivery reports knows its participants, and claims nothing about them", async () => {
    const { driver, remove } = openInFolder();
    await expectParticipantsAfterVersion7(driver);
    await driver.close();
    remove();
  });

  test("opens in one process at a time, and only its owner can read it", async () => {
    const { file, driver, remove } = openInFolder();
    expect(() => openSqlite(file)).toThrow(DatabaseInUseError);
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
    for (const name of [file, `${file}-wal`, `${file}.lock`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    await driver.close();
    await openSqlite(file).close();
    remove();
  });

  test("flushes every commit: write-ahead log, synchronous full", async () => {
    const { driver, remove } = openInFolder();
    await driver.transaction(async (sql) => {
      expect(await sql.all("PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
      expect(await sql.all("PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
    });
    await driver.close();
    remove();
  });

  test("refuses sends that exceed the queue in bytes, and takes them once those before are stored", async () => {
    const context = await openStore(engines["SQLite in a thread of its own"] as OpenDatabase);
    const { store } = context;
    await store.organizations.put("o", undefined, 1);
    await store.conversations.put("o", "c1", { participants: ["u1"] }, 1);
    const sends = Array.from({ length: 250 }, () => messageOf("o", { payload: JSON.stringify("x".repeat(400_000)) }));
    const results = await Promise.allSettled(sends.map((send) => store.sends.append(send)));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    // An organization may fill four fifths of 64 MiB; two more sends are in flight, each in a batch of its own.
    expect(refused.length).toBeWithin(250 - 150, 250 - 130);
    expect(new Set(refused)).toEqual(new Set(["unavailable"]));
    const again = sends.filter((_, index) => results[index]?.status === "rejected");
    const outcomes = await Promise.all(again.map((send) => store.sends.append(send)));
    expect(outcomes.filter(({ outcome }) => outcome === "stored")).toHaveLength(again.length);
    await context.dispose();
  });

  const sizes: [what: string, turn: Turn, pages: number][] = [
    ["a change", { of: "o" }, 250],
    ["a part of an import", { of: "o", isBulk: true }, 500],
    ["sends", "batch", 2_000],
  ];
  test.each(sizes)("after %s, checkpoints few pages at once", async (_, turn, pages) => {
    const { file, driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v BLOB)"));
    for (let count = 0; count < 400; count++) {
      await driver.transaction((sql) => sql.run("INSERT INTO t VALUES (zeroblob(100000))"), turn);
    }
    const pagesThatWaited = statSync(`${file}-wal`).size / (4_096 + 24); // overwritten from its start and never truncated
    expect(pagesThatWaited).toBeWithin(pages, pages + 60);
    await driver.close();
    remove();
  });

  test("a send that waits for a change does not wait for its checkpoint, too", async () => {
    const { file, driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v BLOB)"));
    const other = new Database(file, { readonly: true });
    const checkpointed = () =>
      other.query<{ checkpointed: number }, []>("PRAGMA wal_checkpoint(NOOP)").get()?.checkpointed ?? Number.NaN;
    const sent = Promise.withResolvers<number>();
    await driver.transaction(
      async (sql) => {
        await sql.run("INSERT INTO t VALUES (zeroblob(2000000))");
        driver.transaction(async () => checkpointed(), "batch").then(sent.resolve, sent.reject);
      },
      { of: "o" },
    );
    expect(await sent.promise).toBe(0);
    expect(await driver.transaction(async () => checkpointed())).toBeGreaterThan(250);
    other.close();
    await driver.close();
    remove();
  });

  test("checkpoints sends with long payloads after 2 MiB of them", async () => {
    const { file, driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
    const v = "x".repeat(60_000);
    for (let count = 0; count < 200; count++) await driver.transaction((sql) => sql.rows.insert("t", [{ v }]), "batch");
    const pages = statSync(`${file}-wal`).size / (4_096 + 24);
    expect(pages).toBeWithin(512, 512 + 120);
    await driver.close();
    remove();
  });

  test("runs transactions one at a time, and keeps nothing of a failed one", async () => {
    const { driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
    const results = await Promise.allSettled([
      driver.transaction(async (sql) => {
        await sql.run("INSERT INTO t VALUES ('a')");
        await Bun.sleep(5); // long enough for a second transaction to interleave, if it could
        throw new Error("no");
      }),
      driver.transaction((sql) => sql.run("INSERT INTO t VALUES ('b')")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await driver.all("SELECT v FROM t")).toEqual([{ v: "b" }]);
    await driver.close();
    remove();
  });

  test("reads committed data while a transaction is open, and nothing of that", async () => {
    const { driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
    await driver.transaction(async (sql) => {
      await sql.run("INSERT INTO t VALUES ('a')");
      expect(await driver.all("SELECT v FROM t")).toEqual([]);
    });
    expect(await driver.all("SELECT v FROM t")).toEqual([{ v: "a" }]);
    await driver.close();
    remove();
  });

  test("gives back the room of a write-ahead log that a long read has let grow", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    let writes = 0;
    const write = (bytes: number) =>
      driver.transaction((sql) =>
        sql.run("UPDATE retention SET ids_after = ?", `${++writes}`.padStart(8).repeat(bytes / 8)),
      );
    const logBytes = () => statSync(`${file}-wal`).size;
    const other = new Database(file, { readonly: true });
    other.run("BEGIN");
    other.query("SELECT * FROM retention").all();
    while (logBytes() < 80 * mebibyte) await write(8 * mebibyte);
    other.run("COMMIT");
    other.close();
    for (let count = 0; count < 3; count++) await write(8); // one runs the checkpoint, the next begins at the start of the file
    expect(logBytes()).toBeLessThanOrEqual(64 * mebibyte);
    await driver.close();
    remove();
  });

  test("answers storage_full when no page is left, and continues when there is room again", async () => {
    const { file, driver, remove } = openInFolder();
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
    await driver.transaction((sql) => sql.all("PRAGMA max_page_count = 4"));
    const fill = driver.transaction((sql) => sql.run("INSERT INTO t VALUES (?)", "x".repeat(100_000)));
    await expect(fill).rejects.toMatchObject({ code: "storage_full" });
    await driver.transaction((sql) => sql.all("PRAGMA max_page_count = 1000"));
    await driver.transaction((sql) => sql.run("INSERT INTO t VALUES ('fits')"));
    await driver.close();
    expect(new Database(file).query("SELECT v FROM t").all()).toEqual([{ v: "fits" }]);
    remove();
  });
});
