import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { runHerald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());
  await using superuser = new SQL(postgres.asSuperuser(`${postgres.url}/postgres`), { max: 1 });
  await superuser.unsafe("CREATE ROLE herald_serving LOGIN");
  const settingsOf = (owner: string) => ({
    HERALD_DATABASE_URL: owner.replace("//herald@", "//herald_serving@"),
    HERALD_ADMIN_API_KEY: TEST_KEY,
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
  });

  describe("a node whose database user owns nothing", () => {
    test("migrates as HERALD_MIGRATION_URL, and serves as itself", async () => {
      const owner = await postgres.createDatabase();
      await using herald = await startHerald({ env: { ...settingsOf(owner), HERALD_MIGRATION_URL: owner } });
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      using alice = await org.socket("alice");
      const { server_mid } = await org.sent("bob", { cid, body: "hello" });
      expect((await alice.next()).message?._id).toBe(server_mid);
      expect((await herald.admin("GET", org.path("messages", server_mid))).status).toBe(200);
      expect((await herald.admin("DELETE", org.path("users", "alice", "tokens", "t"))).status).toBe(204);
      expect((await herald.admin("DELETE", org.path())).status).toBe(204);
      await herald.stop();
    });

    test("needs no owner after `herald migrate`, and says before that what is missing", async () => {
      const owner = await postgres.createDatabase();
      const settings = settingsOf(owner);
      const early = await runHerald(["serve"], { HERALD_PORT: "0", ...settings });
      expect(early.code).not.toBe(0);
      const lines = (early.stdout + early.stderr).trim().split("\n");
      expect(lines).toEqual([expect.stringMatching(/^.*HERALD_DATABASE_URL.*HERALD_MIGRATION_URL.*herald migrate/)]);
      const migrated = await runHerald(["migrate"], { ...settings, HERALD_MIGRATION_URL: owner });
      expect(migrated).toMatchObject({ code: 0 });
      await using herald = await startHerald({ env: settings });
      const org = await createOrganization(herald);
      await org.conversation(["alice"]);
      await herald.stop();
    });

    test("is told which setting is wrong", async () => {
      const owner = await postgres.createDatabase();
      const alone = await runHerald(["serve"], { HERALD_PORT: "0", HERALD_MIGRATION_URL: owner });
      expect(alone.stdout + alone.stderr).toContain("HERALD_MIGRATION_URL requires HERALD_DATABASE_URL");
      const nobody = owner.replace("//herald@", "//nobody@");
      const wrong = await runHerald(["serve"], {
        ...settingsOf(owner),
        HERALD_PORT: "0",
        HERALD_MIGRATION_URL: nobody,
      });
      expect(wrong.code).not.toBe(0);
      expect(wrong.stdout + wrong.stderr).toContain("HERALD_MIGRATION_URL");
    });
  });
}
