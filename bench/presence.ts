// Measures what a webhook is told when a node with very many users dies: `exec bun bench/presence.ts --users 50000 --database sqlite`
// (or `postgres`) fills a database with an organization whose webhook was told that so many users are online, and starts a server,
// to which none of them is connected. It prints the number of posts, how long they took, what memory they took, and how long the event
// loop stood still, while another organization sends a message every 10 ms.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createId } from "../src/lib/text/ids.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres } from "../src/store/postgres/postgres.ts";
import type { Driver, Row } from "../src/store/sql/driver.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { startHerald } from "../test/harness/servers/herald.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";
import { type Received, startReceiver } from "../test/harness/servers/receiver.ts";
import { memoryOf, peakMemoryOf } from "./harness/meter.ts";
import { percentile } from "./harness/report/statistics.ts";
import { beginSending } from "./harness/steady-sends.ts";

const { values } = parseArgs({
  options: { database: { type: "string", default: "sqlite" }, users: { type: "string", default: "50000" } },
});
const users = Number(values.users);
const org = "large";
const ref = createId();
const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const rowsPerInsert = 5_000;
const sendEveryMs = 10;
const waitMs = 12_000; // by then, the server has started
const quietMs = 3_000;

async function insert(driver: Driver, table: string, rows: Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerInsert)
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.rows.insert(table, rows.slice(from, from + rowsPerInsert));
    });
}

/** Fills the organization, as its webhook was told of it last. */
async function fill(driver: Driver, url: string): Promise<void> {
  const at = Date.now();
  const uids = Array.from({ length: users }, (_, index) => `user-${String(index).padStart(8, "0")}`);
  await insert(driver, "organization", [{ id: org, head: 0, created_at: at }]);
  const [secrets, events] = [JSON.stringify([{ secret, endsAt: null }]), JSON.stringify(["users.presence"])];
  const hook = { org, id: "counter", ref, url, events, wait_ms: waitMs, until: "delivered", secrets, created_at: at };
  await insert(driver, "webhook", [{ ...hook, disabled_at: null }]);
  await insert(driver, "webhook_presence", [{ org, webhook: ref, seq: 0, holder: "dead", held_until: at }]);
  const rows = uids.map((uid) => ({ org, webhook: ref, uid }));
  await insert(driver, "webhook_online", rows);
}

const describe = (took: number[]) => [0.5, 0.99, 1].map((share) => percentile(took, share).toFixed(1)).join(" / ");
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);

const folder = mkdtempSync(join(tmpdir(), "herald-presence-"));
const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const databaseUrl = await postgres?.createDatabase();
const receiver = startReceiver();
receiver.secrets.push(secret);
const driver = databaseUrl === undefined ? openSqlite(join(folder, "herald.db")) : connectPostgres(databaseUrl);
await migrateStore(driver);
await fill(driver, receiver.url);
await driver.close();
const herald = await startHerald({
  dataDir: folder,
  env: {
    HERALD_WEBHOOK_ALLOW_PRIVATE: "1",
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    ...(databaseUrl !== undefined && { HERALD_DATABASE_URL: databaseUrl }),
  },
});
try {
  const other = await createOrganization(herald);
  const cid = await other.conversation(["alice"]);
  const quiet = beginSending(other, cid, sendEveryMs);
  await Bun.sleep(quietMs);
  console.log(`${values.database}, ${users} users`);
  console.log(`sends without it: ${describe(await quiet.stop())} ms (p50 / p99 / worst)`);
  const before = memoryOf(herald.pid);
  // The first post says that nobody is new.
  await receiver.first(1);
  const sending = beginSending(other, cid, sendEveryMs);
  while (receiver.received.length < 2) await Bun.sleep(5);
  const firstAt = performance.now();
  const goneIn = ({ webhook: { data } }: Received) => ("offline" in data ? data.offline : []);
  const count = () => receiver.received.reduce((total, one) => total + goneIn(one).length, 0);
  while (count() < users) await Bun.sleep(20);
  const seconds = (performance.now() - firstAt) / 1_000;
  console.log(`sends meanwhile: ${describe(await sending.stop())} ms`);
  const posts = receiver.received.length;
  console.log(
    `${new Set(receiver.received.flatMap(goneIn)).size} users of ${count()} in ${posts} posts; ${seconds.toFixed(1)} s from the first to the last`,
  );
  console.log(`${Math.round(users / seconds)} users a second`);
  console.log(`memory: ${megabytes(before)} MB before, at most ${megabytes(peakMemoryOf(herald.pid))} MB`);
} finally {
  receiver[Symbol.dispose]();
  await herald.kill();
  postgres?.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);
