import { afterAll, describe, expect, test } from "bun:test";
import { startPostgres } from "../../test/harness/postgres.ts";
import { migrateStore } from "./migrate.ts";
import { connectPostgres, openPostgres } from "./postgres.ts";
import { describeDirectory } from "./testing/directory-suite.ts";
import { describeLog } from "./testing/log-suite.ts";

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  describeLog("PostgreSQL", async (announce) => openPostgres(await postgres.createDatabase(), announce));
  describeDirectory("PostgreSQL", async (announce) => openPostgres(await postgres.createDatabase(), announce));

  describe("PostgreSQL", () => {
    test("is migrated once, however many nodes start together", async () => {
      const url = await postgres.createDatabase();
      const drivers = Array.from({ length: 4 }, () => connectPostgres(url));
      const versions = await Promise.all(drivers.map(migrateStore));
      expect(versions.filter(({ from, to }) => from !== to)).toHaveLength(1);
      await Promise.all(drivers.map((driver) => driver.close()));
    });

    test("runs transactions one after another, and a failed one leaves nothing", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
      const results = await Promise.allSettled([
        driver.transaction(async (sql) => {
          await sql.run("INSERT INTO t VALUES ('a')");
          throw new Error("no");
        }),
        driver.transaction((sql) => sql.run("INSERT INTO t VALUES ('b')")),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
      expect([...(await driver.all("SELECT v FROM t"))]).toEqual([{ v: "b" }]);
      await driver.close();
    });

    test("gives one id to one send, also when two nodes are asked at once", async () => {
      const url = await postgres.createDatabase();
      const nodes = await Promise.all([1, 2].map(() => openPostgres(url, () => undefined)));
      const [first] = nodes;
      await first?.writes.organizations.put("o", undefined, 1);
      await first?.writes.conversations.put("o", "c1", { participants: ["u1"] }, 1);
      const send = (node: number) => ({
        org: "o",
        kind: "message" as const,
        id: crypto.randomUUID(),
        cid: "c1",
        sender: "u1",
        mid: "same",
        fingerprint: "f",
        payload: `{"node":${node}}`,
        uids: undefined,
        createdAt: 1,
      });
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, index) => nodes[index % 2]?.writes.batches.appendAll([send(index % 2)])),
      );
      expect(outcomes.flat().filter((result) => result?.outcome === "stored")).toHaveLength(1);
      expect(outcomes.flat().filter((result) => result?.outcome === "replayed")).toHaveLength(39);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test("says unavailable while it is away, and goes on when it is back", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
      await postgres.restart(async () => {
        await expect(driver.transaction((sql) => sql.run("INSERT INTO t VALUES ('a')"))).rejects.toMatchObject({
          code: "unavailable",
        });
        await expect(driver.all("SELECT v FROM t")).rejects.toMatchObject({ code: "unavailable" });
      });
      await driver.transaction((sql) => sql.run("INSERT INTO t VALUES ('b')"));
      expect([...(await driver.all("SELECT v FROM t"))]).toEqual([{ v: "b" }]);
      await driver.close();
    });

    test("is given up when it is frozen, and found again when it thaws", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { deadline: 300 });
      await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT)"));
      postgres.freeze();
      await expect(driver.all("SELECT v FROM t")).rejects.toMatchObject({ code: "unavailable" });
      await expect(driver.transaction((sql) => sql.all("SELECT v FROM t"))).rejects.toMatchObject({
        code: "unavailable",
      });
      postgres.resume();
      expect([...(await driver.all("SELECT v FROM t"))]).toEqual([]);
      await driver.close();
    });
  });
}
