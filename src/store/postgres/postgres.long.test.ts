import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { migrateStore } from "../migrate.ts";
import type { Driver } from "../sql/driver.ts";
import { entryAt } from "../testing/audit-suite.ts";
import { expectCountsAfterVersion9 } from "../testing/budget-suite.ts";
import { describeBusSecrets } from "../testing/bus-secrets-suite.ts";
import { expectParticipantsAfterVersion7 } from "../testing/delivery-suite.ts";
import { describeEngine } from "../testing/engine-suite.ts";
import { expectKeysAfterVersion1, expectKeysOfDeletedOrganization } from "../testing/keys-suite.ts";
import { expectHeadsAfterVersion8, expectUnknownKinds } from "../testing/log-suite.ts";
import { describeNodeRegistry } from "../testing/node-suite.ts";
import { expectRemovalsAfterVersion6 } from "../testing/retention-suite.ts";
import { describeSizes } from "../testing/sizes-suite.ts";
import { connectPostgres, openPostgres } from "./postgres.ts";

setDefaultTimeout(60_000); // restarting a server may take long on a busy machine

/** The server processes behind a driver's read connections. */
async function pidsOf(driver: Driver): Promise<number[]> {
  const asked = Array.from({ length: 32 }, () =>
    driver.all<{ pid: number }>("SELECT pg_backend_pid() AS pid, pg_sleep(0.01)"),
  );
  return [...new Set((await Promise.all(asked)).map(([row]) => row?.pid ?? 0))];
}

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  describeEngine("PostgreSQL", async (announce) => openPostgres(await postgres.createDatabase(), announce));
  describeBusSecrets("on PostgreSQL", async () => openPostgres(await postgres.createDatabase(), () => undefined));
  describeNodeRegistry("on PostgreSQL", async () => openPostgres(await postgres.createDatabase(), () => undefined));
  describeSizes("PostgreSQL", async () => openPostgres(await postgres.createDatabase(), () => undefined));

  describe("PostgreSQL", () => {
    test("is migrated once, however many nodes start together", async () => {
      const url = await postgres.createDatabase();
      const drivers = Array.from({ length: 4 }, () => connectPostgres(url));
      const versions = await Promise.all(drivers.map((driver) => migrateStore(driver)));
      expect(versions.filter(({ from, to }) => from !== to)).toHaveLength(1);
      await Promise.all(drivers.map((driver) => driver.close()));
    });

    test("tells the size of its write-ahead log only to a user who may list it", async () => {
      const url = await postgres.createDatabase();
      const database = await openPostgres(url, () => undefined);
      expect((await database.sizes()).logBytes).toBeUndefined();
      const superuser = connectPostgres(postgres.asSuperuser(url));
      await superuser.run("GRANT pg_monitor TO herald");
      const segmentBytes = 16 * 1024 * 1024;
      expect((await database.sizes()).logBytes).toBeGreaterThanOrEqual(segmentBytes);
      await superuser.run("REVOKE pg_monitor FROM herald");
      await Promise.all([superuser.close(), database.close()]);
    });

    test("is upgraded from the version before API keys with its contents", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectKeysAfterVersion1(driver);
      await driver.close();
    });

    test("revokes keys left by a deletion before the organization is created again", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectKeysOfDeletedOrganization(driver);
      await driver.close();
    });

    test("is upgraded from the version before retention, and loses only what had been deleted", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectRemovalsAfterVersion6(driver);
      await driver.close();
    });

    test("counts the events of versions without counts, written before its migration and beside it", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectCountsAfterVersion9(driver);
      await driver.close();
    });

    test("is upgraded from the version before head ids, which runs beside it for a while", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectHeadsAfterVersion8(driver);
      await driver.close();
    });

    test("can be read where a later version wrote events of other kinds", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectUnknownKinds(driver);
      await driver.close();
    });

    test("is upgraded from the version before delivery reports with the number of participants", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await expectParticipantsAfterVersion7(driver);
      await driver.close();
    });

    test("serves with a role that may only append to the audit log, which can neither change nor remove an entry", async () => {
      const url = await postgres.createDatabase();
      const owner = await openPostgres(url, () => undefined);
      const superuser = connectPostgres(postgres.asSuperuser(url));
      await superuser.run("CREATE ROLE herald_node LOGIN");
      await superuser.close();
      for (const statement of [
        "GRANT USAGE, CREATE ON SCHEMA public TO herald_node",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO herald_node",
        "REVOKE UPDATE, DELETE ON audit FROM herald_node",
      ])
        await owner.reader.all(statement);
      const node = await openPostgres(url.replace("herald@", "herald_node@"), () => undefined);
      await node.writes.organizations.put("o1", undefined, 1);
      await node.writes.audit.append([entryAt(1)]);
      for (const statement of ["UPDATE audit SET status = 1", "DELETE FROM audit", "TRUNCATE audit"])
        await expect(node.reader.all(statement)).rejects.toMatchObject({ cause: { errno: "42501" } });
      expect(await node.reader.all("SELECT status FROM audit")).toHaveLength(1);
      await Promise.all([owner, node].map(({ close }) => close()));
    });

    test("runs transactions one at a time, and keeps nothing of a failed one", async () => {
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

    test("commits what is written lastly with the rest, or nothing when it fails", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await driver.transaction((sql) => sql.run("CREATE TABLE t (v INTEGER PRIMARY KEY)"));
      const insert = (first: number, last: number) =>
        driver.transaction(async (sql) => {
          await sql.rows.insert("t", [{ v: first }]);
          sql.lastly(sql.rows.insert("t", [{ v: last }]));
          return "done";
        });
      expect(await insert(1, 2)).toBe("done");
      await expect(insert(3, 2)).rejects.toThrow("duplicate key");
      await expect(insert(2, 4)).rejects.toThrow("duplicate key");
      expect(await insert(5, 6)).toBe("done");
      const stored = await driver.all<{ v: number }>("SELECT v FROM t ORDER BY v");
      expect(stored.map(({ v }) => v)).toEqual([1, 2, 5, 6]);
      await driver.close();
    });

    test("commits nothing when a statement failed whose failure its transaction hides, and runs none behind the commit", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await driver.transaction((sql) => sql.run("CREATE TABLE t (v INTEGER PRIMARY KEY)"));
      const hiding = driver.transaction(async (sql) => {
        await sql.rows.insert("t", [{ v: 1 }]);
        await sql.all("SELECT 1 / 0").catch(() => undefined);
      });
      await expect(hiding).rejects.toThrow("division by zero");
      const late = driver.transaction(async (sql) => {
        await sql.all("SELECT 1");
        sql.lastly(nextTurn().then(() => sql.rows.insert("t", [{ v: 2 }])));
      });
      const [outcome] = await Promise.allSettled([late]);
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: new Error("a statement after the end of its transaction"),
      });
      expect(await driver.all("SELECT v FROM t")).toHaveLength(0);
      await driver.close();
    });

    test("creates an organization once if several nodes are asked at once; the others find and rename it", async () => {
      const url = await postgres.createDatabase();
      const nodes = await Promise.all([1, 2, 3].map(() => openPostgres(url, () => undefined)));
      for (let round = 0; round < 30; round += 1) {
        const org = `o${round}`;
        const puts = await Promise.all(
          nodes.map(({ writes }, index) => writes.organizations.put(org, `name ${index}`, index)),
        );
        const [made] = puts.filter(({ isNew }) => isNew);
        expect(puts.filter(({ isNew }) => isNew)).toHaveLength(1);
        expect(puts.map(({ entity }) => entity.createdAt)).toEqual(Array(3).fill(made?.entity.createdAt));
        const [row] = await (nodes[0]?.reader.all("SELECT name FROM organization WHERE id = ?", org) ?? []);
        expect(row?.name).not.toBe(made?.entity.name); // a later one renamed it
      }
      await Promise.all(nodes.map((node) => node.close()));
    });

    test("gives one id to one send, even if two nodes are asked at once", async () => {
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
        keyId: "k",
      });
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, index) => nodes[index % 2]?.writes.batches.appendAll([send(index % 2)])),
      );
      expect(outcomes.flat().filter((result) => result?.outcome === "stored")).toHaveLength(1);
      expect(outcomes.flat().filter((result) => result?.outcome === "replayed")).toHaveLength(39);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test("answers `unavailable` while it is away, and continues when it is back", async () => {
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

    test("answers everything queued behind slow reads, however long that takes, on the connections it has", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { deadline: 500 });
      const slow = Array.from({ length: 40 }, () =>
        driver.all<{ pid: number }>("SELECT pg_backend_pid() AS pid, pg_sleep(0.2)"),
      );
      const small = Array.from({ length: 300 }, () => driver.all<{ pid: number }>("SELECT pg_backend_pid() AS pid"));
      const pids = (await Promise.all([...slow, ...small])).map(([row]) => row?.pid);
      expect(new Set(pids).size).toBeLessThanOrEqual(8);
      await driver.close();
    });

    test("answers other reads beside a slow one", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      const ended: string[] = [];
      const slow = driver.all("SELECT pg_sleep(1)").then(() => ended.push("slow"));
      for (let read = 0; read < 40; read++) await driver.all("SELECT 1");
      ended.push("others");
      await slow;
      expect(ended).toEqual(["others", "slow"]);
      await driver.close();
    });

    test("replaces a connection that does not answer, and only that one", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { deadline: 300 });
      const before = await pidsOf(driver);
      const [frozen = 0] = before;
      process.kill(frozen, "SIGSTOP");
      try {
        const reads = await Promise.allSettled(Array.from({ length: 40 }, () => driver.all("SELECT pg_sleep(0.01)")));
        const refused = reads.filter(({ status }) => status === "rejected");
        expect(refused.length).toBeWithin(1, 5); // the calls in flight on that one
        const after = await pidsOf(driver);
        expect(after).not.toContain(frozen);
        expect(after.filter((pid) => before.includes(pid))).toHaveLength(7);
      } finally {
        process.kill(frozen, "SIGCONT");
      }
      await driver.close();
    });

    test("if one connection does not answer, replaces those silent since then: the network path is broken", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { deadline: 300 });
      const ask = "SELECT pg_backend_pid() AS pid";
      const writing = await driver.transaction((sql) => sql.all<{ pid: number }>(ask));
      const before = [...(await pidsOf(driver)), ...writing.map(({ pid }) => pid)];
      for (const pid of before) process.kill(pid, "SIGSTOP");
      try {
        await expect(driver.all("SELECT 1")).rejects.toMatchObject({ code: "unavailable" });
        expect(await driver.transaction((sql) => sql.all(ask))).toHaveLength(1);
        const after = await pidsOf(driver);
        expect(after).toHaveLength(8);
        expect(after.filter((pid) => before.includes(pid))).toEqual([]);
      } finally {
        for (const pid of before) process.kill(pid, "SIGCONT");
      }
      await driver.close();
    });

    test("refuses a read that has waited too long, and only that one", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { wait: 300 });
      const before = await pidsOf(driver);
      const slow = Array.from({ length: 8 }, () => driver.all("SELECT pg_sleep(0.6)"));
      const late = driver.all("SELECT 1").catch((error: unknown) => error);
      expect(await late).toMatchObject({ code: "unavailable" });
      await Promise.all(slow);
      expect(await driver.all("SELECT 1")).toHaveLength(1);
      expect((await pidsOf(driver)).toSorted()).toEqual(before.toSorted());
      await driver.close();
    });

    test("refuses a transaction that has waited too long, and completes the one it waited for", async () => {
      const driver = connectPostgres(await postgres.createDatabase(), { wait: 200 });
      const long = driver.transaction((sql) => sql.all("SELECT pg_sleep(0.6)"));
      const late = driver.transaction((sql) => sql.all("SELECT 1")).catch((error: unknown) => error);
      expect(await late).toMatchObject({ code: "unavailable" });
      expect(await long).toHaveLength(1);
      expect(await driver.transaction((sql) => sql.all("SELECT 1"))).toHaveLength(1);
      await driver.close();
    });

    test("reports a connection that was replaced after it was lost, but not the first ones", async () => {
      let reconnects = 0;
      const driver = connectPostgres(await postgres.createDatabase(), { onReconnect: () => reconnects++ });
      await pidsOf(driver);
      await driver.transaction((sql) => sql.all("SELECT 1"));
      expect(reconnects).toBe(0);
      await postgres.restart(async () => {
        await expect(driver.all("SELECT 1")).rejects.toMatchObject({ code: "unavailable" });
      });
      expect(reconnects).toBe(0);
      await driver.all("SELECT 1");
      expect(reconnects).toBe(1);
      await driver.transaction((sql) => sql.all("SELECT 1"));
      expect(reconnects).toBe(2);
      await driver.close();
    });

    test("is abandoned when frozen, and found again when it thaws", async () => {
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
