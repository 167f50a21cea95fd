// Measures webhooks about a message to everyone in a large organization: `exec bun bench/unreached.ts --users 200000 --database sqlite`
// (or `postgres`) fills a database with an organization of so many users and a system message to all of them, which is due for a
// webhook a few seconds after the start of a server. It prints how long that takes until the last post, what memory it takes, how
// long the event loop stood still, and what the sends of another organization felt. `--reached 50` is how many percent have it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createId } from "../src/lib/text/ids.ts";
import { toDeliveryRow } from "../src/store/delivery/delivery.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres } from "../src/store/postgres/postgres.ts";
import type { Driver, Row } from "../src/store/sql/driver.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { readMetrics } from "../test/harness/reading/metrics.ts";
import { type Herald, startHerald } from "../test/harness/servers/herald.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";
import { startReceiver } from "../test/harness/servers/receiver.ts";
import { memoryOf, peakMemoryOf } from "./harness/meter.ts";
import { percentile } from "./harness/report/statistics.ts";
import { beginSending } from "./harness/steady-sends.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    users: { type: "string", default: "200000" },
    reached: { type: "string", default: "0" },
  },
});
const users = Number(values.users);
const reached = Number(values.reached);
const org = "large";
const ref = createId();
const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const rowsPerInsert = 5_000;
const sendEveryMs = 10;
const quietMs = 3_000;
const restMs = 8_000;

const nameOf = (index: number) => `user-${String(index).padStart(8, "0")}`;

async function insert(driver: Driver, table: string, rows: Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerInsert)
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.rows.insert(table, rows.slice(from, from + rowsPerInsert));
    });
}

/** Fills the organization; its message is not due yet. */
async function fill(driver: Driver, url: string): Promise<void> {
  const at = Date.now();
  const uids = Array.from({ length: users }, (_, index) => nameOf(index));
  const wish = { webhook: ref, kinds: ["system"], waitMs: 1_000 };
  await insert(driver, "organization", [{ id: org, head: 1, created_at: at, webhooks: JSON.stringify([wish]) }]);
  const joined = { created_at: at, log_start: 0 };
  const rows = uids.map((id) => ({ org, id, ...joined }));
  await insert(driver, "user", rows);
  const secrets = JSON.stringify([{ secret, endsAt: null }]);
  const events = JSON.stringify(["system_message.unreached"]);
  const hook = { org, id: "push", ref, url, events, wait_ms: 1_000, until: "delivered", secrets, created_at: at };
  await insert(driver, "webhook", [{ ...hook, disabled_at: null }]);
  const event = { org, offset: 1, id: createId(at), cid: null, kind: "system", sender: nameOf(0), mid: "m" };
  const payload = JSON.stringify({ system_message: { _id: "m", t: at, from: nameOf(0), x: {} } });
  await insert(driver, "event", [{ ...event, uids: "[]", payload, created_at: at }]);
  const heard = uids.filter((_, index) => index % 100 < reached);
  if (heard.length > 0) {
    const audience = createId(at);
    const version = { org, cid: "", offset: 1, id: audience, parent: null, removed: "[]" };
    await insert(driver, "audience", [{ ...version, added: JSON.stringify(heard) }]);
    const delivered = toDeliveryRow({
      ...{ id: createId(at), org, cid: undefined, kind: "delivery", uids: undefined },
      ...{ connections: heard.length, audience, plays: [[1, at, at]] },
    });
    await insert(driver, "delivery", [delivered]);
  }
  const due = { org, offset: 1, webhook: ref, event_id: event.id, due_at: Date.now() + restMs };
  await insert(driver, "webhook_due", [due]);
}

const describe = (took: number[]) => [0.5, 0.99, 1].map((share) => percentile(took, share).toFixed(1)).join(" / ");

/** How many delays of the event loop were at most so long, in milliseconds. */
async function delaysOf({ http }: Herald): Promise<Map<number, number>> {
  const { samples } = readMetrics((await http<string>("GET", "/metrics")).text);
  const buckets = samples.filter(({ name }) => name === "herald_event_loop_delay_seconds_bucket");
  return new Map(buckets.map(({ labels, value }) => [Number(labels.le?.replace("+Inf", "Infinity")) * 1_000, value]));
}

/** The upper bound of the longest delay since an earlier look. */
function longestSince(before: Map<number, number>, after: Map<number, number>): number {
  const total = (after.get(Number.POSITIVE_INFINITY) ?? 0) - (before.get(Number.POSITIVE_INFINITY) ?? 0);
  const bounds = [...after.keys()].toSorted((left, right) => left - right);
  return bounds.find((bound) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0) >= total) ?? Number.NaN;
}

const folder = mkdtempSync(join(tmpdir(), "herald-unreached-"));
const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const databaseUrl = await postgres?.createDatabase();
const receiver = startReceiver();
receiver.secrets.push(secret);
const driver = databaseUrl === undefined ? openSqlite(join(folder, "herald.db")) : connectPostgres(databaseUrl);
await migrateStore(driver);
await fill(driver, receiver.url);
if (databaseUrl !== undefined) await driver.run("ANALYZE"); // as PostgreSQL does by itself within a minute
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
  console.log(`${values.database}, ${users} users, ${reached} % reached`);
  console.log(`sends without it: ${describe(await quiet.stop())} ms (p50 / p99 / worst)`);
  const [before, delays] = [memoryOf(herald.pid), await delaysOf(herald)];
  const sending = beginSending(other, cid, sendEveryMs);
  const [first] = await receiver.first(1);
  const firstAt = performance.now();
  const found = first?.webhook.type === "system_message.unreached" ? first.webhook : undefined;
  if (found === undefined) throw new Error("another webhook came first");
  const lateMs = Date.now() - Date.parse(found.timestamp);
  while (receiver.received.length < found.data.parts) await Bun.sleep(5);
  const seconds = (performance.now() - firstAt) / 1_000;
  const told = receiver.received.flatMap(({ webhook }) =>
    webhook.type === "system_message.unreached" ? webhook.data.unreached.map(({ uid }) => uid) : [],
  );
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  console.log(`sends meanwhile: ${describe(await sending.stop())} ms`);
  console.log(
    `${new Set(told).size} users of ${told.length} in ${found.data.parts} parts; first after ${lateMs} ms, then ${seconds.toFixed(1)} s`,
  );
  console.log(`memory: ${megabytes(before)} MB before, at most ${megabytes(peakMemoryOf(herald.pid))} MB`);
  console.log(`longest stall of the event loop: at most ${longestSince(delays, await delaysOf(herald)).toFixed(0)} ms`);
} finally {
  receiver[Symbol.dispose]();
  await herald.kill();
  postgres?.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);
