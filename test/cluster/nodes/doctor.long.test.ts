import { expect, setDefaultTimeout, test } from "bun:test";
import { connectPostgres } from "../../../src/store/postgres/postgres.ts";
import { useEngines } from "../../harness/engines.ts";
import { runHerald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  test("herald doctor tells of the clocks, the round trip and the versions of a cluster", async () => {
    const url = await postgres.createDatabase();
    const env = {
      HERALD_DATABASE_URL: url,
      HERALD_BUS_URL: nats.url,
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    };
    const tell = async () => {
      const { stdout } = await runHerald(["doctor"], env);
      return stdout;
    };
    expect(await tell()).toContain("ok    schema       none yet; the next start creates it");
    await using _one = await startHerald({ env });
    await using _two = await startHerald({ env });
    const seen = await tell();
    expect(seen).toMatch(/ok {4}database {5}PostgreSQL \d+.*, \d+ MiB/);
    expect(seen).toMatch(/ok {4}clock {8}this machine's clock and the database's differ by \d+ ms/);
    expect(seen).toMatch(/ok {4}nodes {8}2 of version \S+\n/);
    expect(seen).toMatch(/(ok {4}|warn {2})bus {10}NATS \S+, a round trip takes \d+ ms/);
    expect(seen).not.toContain("cluster"); // both secrets are settings

    const driver = connectPostgres(url);
    await driver.run(
      "INSERT INTO node (id, beat, status) SELECT 'old', 1, REPLACE(status, '\"version\":\"', '\"version\":\"0.0.') FROM node LIMIT 1",
    );
    await driver.close();
    const mixed = await tell();
    expect(mixed).toMatch(/warn {2}nodes {8}3 of version \S+ and \S+\n/);
    expect(mixed).toContain("two releases may share a database only while nodes are replaced");
  });
}
