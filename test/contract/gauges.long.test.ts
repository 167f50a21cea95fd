import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { eventually } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
import { type Herald, startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { scheduling } from "../harness/servers/scheduling.ts";

setDefaultTimeout(120_000);

/** On a slow machine, a figure that took long to read is read again after a minute only. */
const readAgainMs = 70_000;

const mebibyte = 1024 * 1024;
const alone = { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET };

/** The value of a metric once it meets a condition. */
function valueWhen(node: Herald, name: string, isThere: (value: number) => boolean): Promise<number> {
  return eventually(
    async () => {
      const { samples } = readMetrics((await node.http<string>("GET", "/metrics")).text);
      const value = sampleOf(samples, name);
      return value !== undefined && isThere(value) ? value : undefined;
    },
    `${name} to be there`,
    readAgainMs,
  );
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

/** Holds up a node's sends while `work` runs. */
type HoldUp = (work: () => Promise<void>) => Promise<void>;

/** Checks that the age of the oldest send grows while sends are held up, and falls when they go on. */
async function expectAgeOfSend(node: Herald, holdUp: HoldUp): Promise<void> {
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  const name = "herald_oldest_send_age_seconds";
  expect(await valueWhen(node, name, () => true)).toBe(0);
  let sent: Promise<unknown> | undefined;
  await holdUp(async () => {
    const sentAt = performance.now();
    sent = org.sent("alice", { cid, body: "held up" });
    const age = await valueWhen(node, name, (seconds) => seconds > 1);
    expect(age).toBeLessThanOrEqual((performance.now() - sentAt) / 1000);
  });
  await sent;
  await valueWhen(node, name, (seconds) => seconds === 0);
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

  test("with SQLite, show how long a send has been waiting while somebody else writes to the file", async () => {
    await using node = await startHerald({ env: alone });
    await expectAgeOfSend(node, async (work) => {
      using other = new Database(join(node.dataDir, "herald.db"));
      other.run("BEGIN IMMEDIATE");
      await work();
      other.run("ROLLBACK");
    });
  });

  test.skipIf(postgres === undefined)("with PostgreSQL, show how long a send has been waiting for a lock", async () => {
    const url = (await postgres?.createDatabase()) ?? "";
    await using node = await startHerald({ env: { ...alone, HERALD_DATABASE_URL: url } });
    await using other = new SQL(url, { max: 1 });
    await expectAgeOfSend(node, async (work) => {
      await other.begin(async (transaction) => {
        await transaction`LOCK TABLE event IN EXCLUSIVE MODE`;
        await work();
      });
    });
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

  test("counts scheduled sends, and tells how many wait", async () => {
    await using node = await startHerald({ env: alone });
    const org = await createOrganization(node);
    const cid = await org.conversation(["alice"]);
    const { put, ended, messageOf } = scheduling(org);
    const request = messageOf("alice", { cid, body: "x" });
    await put("now", { send_at: "2020-01-01T00:00:00Z", request });
    await put("later", { send_at: new Date(Date.now() + 86_400_000).toISOString(), request });
    await ended("now");
    // What is counted is shown within a second, and what is read from the database later.
    const results = ["sent", "failed"].map((result) => ["herald_scheduled_sends_total", { result }] as const);
    const shown = async () => {
      const { samples } = readMetrics((await node.http<string>("GET", "/metrics")).text);
      const read = ["herald_scheduled_waiting", "herald_scheduled_overdue_seconds"].map((name) =>
        sampleOf(samples, name),
      );
      return [...read, ...results.map(([name, labels]) => sampleOf(samples, name, labels))].join();
    };
    await eventually(
      async () => (await shown()) === "1,0,1,0" || undefined,
      "one that waits and one sent",
      readAgainMs,
    );
  });
});
