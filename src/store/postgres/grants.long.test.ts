import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { migrateStore } from "../migrate.ts";
import { describeEngine } from "../testing/engine-suite.ts";
import type { OpenDatabase } from "../testing/log-suite.ts";
import { describeNodeRegistry } from "../testing/node-suite.ts";
import { describeSizes } from "../testing/sizes-suite.ts";
import { connectPostgres, openPostgres } from "./postgres.ts";

setDefaultTimeout(60_000); // starting a server may take long on a busy machine

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  const servingUrl = (url: string) => url.replace("//herald@", "//herald_serving@");
  const superuser = connectPostgres(postgres.asSuperuser(`${postgres.url}/postgres`));
  await superuser.run("CREATE ROLE herald_serving LOGIN");
  await superuser.close();

  const open: OpenDatabase = async (announce) => {
    const url = await postgres.createDatabase();
    return await openPostgres(servingUrl(url), announce, { migrationUrl: url });
  };
  const engine = "PostgreSQL as a role that owns nothing";
  describeEngine(engine, open);
  describeNodeRegistry(`on ${engine}`, async () => {
    const url = await postgres.createDatabase();
    return await openPostgres(servingUrl(url), () => undefined, { migrationUrl: url });
  });

  describeSizes(engine, async () => {
    const url = await postgres.createDatabase();
    return await openPostgres(servingUrl(url), () => undefined, { migrationUrl: url });
  });

  describe("a role that owns nothing", () => {
    test("may do what serving requires, and nothing to the tables themselves", async () => {
      const url = await postgres.createDatabase();
      const node = await openPostgres(servingUrl(url), () => undefined, { migrationUrl: url });
      expect(node.advice).toBeUndefined();
      const serving = connectPostgres(servingUrl(url));
      for (const statement of [
        "CREATE TABLE mine (v TEXT)",
        "DROP TABLE event",
        "TRUNCATE event",
        `ALTER TABLE "user" NO FORCE ROW LEVEL SECURITY`,
        "CREATE POLICY everything ON event USING (true)",
        "UPDATE schema_version SET version = 99",
        "DELETE FROM schema_step",
      ])
        await expect(serving.run(statement)).rejects.toMatchObject({ cause: { errno: "42501" } });
      await Promise.all([node.close(), serving.close()]);
    });

    test("sees no rows of an organization that its statement does not name", async () => {
      const url = await postgres.createDatabase();
      const node = await openPostgres(servingUrl(url), () => undefined, { migrationUrl: url });
      for (const org of ["o1", "o2"]) {
        await node.writes.organizations.put(org, undefined, 1);
        await node.writes.users.put(org, "alice", undefined, 1);
        await node.writes.users.revokeToken(org, "alice", "t", 1);
      }
      for (const table of [`"user"`, "event", "revoked_token"]) {
        expect(await node.reader.all(`SELECT org FROM ${table}`)).toBeEmpty();
        expect(await node.reader.allOf("o1", `SELECT DISTINCT org FROM ${table}`)).toEqual([{ org: "o1" }]);
      }
      await node.close();
    });

    test("starts without the owner once the database is migrated, and only then", async () => {
      const url = await postgres.createDatabase();
      const early = connectPostgres(url);
      await migrateStore(early, { to: 9 });
      await early.close();
      await expect(openPostgres(servingUrl(url), () => undefined)).rejects.toMatchObject({ errno: "42501" });
      const first = await openPostgres(servingUrl(url), () => undefined, { migrationUrl: url });
      await first.close();
      const second = await openPostgres(servingUrl(url), () => undefined);
      expect(second.migrated.from).toBe(second.migrated.to);
      await second.writes.organizations.put("o1", undefined, 1);
      await second.close();
    });

    test("does not get back what an operator revoked", async () => {
      const url = await postgres.createDatabase();
      const migrating = { migrationUrl: url };
      const first = await openPostgres(servingUrl(url), () => undefined, migrating);
      await first.close();
      const owner = connectPostgres(url);
      await owner.run("REVOKE UPDATE, DELETE ON audit FROM herald_serving");
      await owner.close();
      const second = await openPostgres(servingUrl(url), () => undefined, migrating);
      const serving = connectPostgres(servingUrl(url));
      await expect(serving.run("DELETE FROM audit")).rejects.toMatchObject({ cause: { errno: "42501" } });
      await Promise.all([second.close(), serving.close()]);
    });
  });
}
