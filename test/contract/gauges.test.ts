import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
import { type Herald, startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(60_000);

const mebibyte = 1024 * 1024;
const alone = { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET };

/** The value of a metric once it meets a condition. */
function valueWhen(node: Herald, name: string, isThere: (value: number) => boolean): Promise<number> {
  return eventually(async () => {
    const { samples } = readMetrics((await node.http<string>("GET", "/metrics")).text);
    const value = sampleOf(samples, name);
    return value !== undefined && isThere(value) ? value : undefined;
  }, `${name} to be there`);
}

/** Stores this many MiB that cannot be compressed. */
async function fill(node: Herald, mebibytes: number): Promise<void> {
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  const body = () => Buffer.from(crypto.getRandomValues(new Uint8Array(12_000))).toString("base64");
  const count = Math.ceil((mebibytes * mebibyte) / 16_000);
  for (let left = count; left > 0; left -= 20)
    await Promise.all(Array.from({ length: 20 }, () => org.sent("alice", { cid, body: body() })));
}

const postgres = await startPostgres();
if (postgres !== undefined) afterAll(() => postgres.stop());

describe("the metrics of what is stored", () => {
  test("with SQLite, are the sizes of its files and of its disk, and grow with what is written", async () => {
    await using node = await startHerald({ env: alone });
    const file = join(node.dataDir, "herald.db");
    const before = await valueWhen(node, "herald_database_size_bytes", () => true);
    expect(await valueWhen(node, "herald_database_wal_bytes", () => true)).toBeWithin(1, 64 * mebibyte);
    await fill(node, 24); // more than the write-ahead log holds before a checkpoint
    const after = await valueWhen(node, "herald_database_size_bytes", (bytes) => bytes > before);
    expect(after).toBeLessThanOrEqual(statSync(file).size);
    const { blocks, bsize } = statfsSync(node.dataDir);
    const size = await valueWhen(node, "herald_disk_size_bytes", () => true);
    expect(size).toBe(blocks * bsize);
    expect(await valueWhen(node, "herald_disk_free_bytes", () => true)).toBeWithin(1, size);
    const { text } = await node.http("GET", "/metrics");
    expect(text).toContain('herald_database_size_bytes{engine="sqlite"} ');
  });

  test.skipIf(postgres === undefined)(
    "with PostgreSQL, the size of the database is the same on every node",
    async () => {
      const env = { ...alone, HERALD_DATABASE_URL: (await postgres?.createDatabase()) ?? "" };
      await using one = await startHerald({ env });
      await using two = await startHerald({ env });
      const before = await valueWhen(one, "herald_database_size_bytes", () => true);
      await fill(one, 2);
      const grown = (bytes: number) => bytes > before + mebibyte;
      await Promise.all([one, two].map((node) => valueWhen(node, "herald_database_size_bytes", grown)));
      const { text } = await two.http("GET", "/metrics");
      expect(text).toContain('herald_database_size_bytes{engine="postgresql"} ');
      expect(text).not.toContain("herald_database_wal_bytes{"); // the user may not list it
      expect(one.logs()).not.toContain("something went wrong");
    },
  );
});
