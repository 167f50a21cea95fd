// Measures what sends feel of retention: `exec bun bench/purge.ts` fills a database with 200,000 old messages (or the
// number given as first argument), starts a server that removes them, and times sends during the removal and after it.
// Both engines in turn, sixteen callers.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "../src/lib/text/ids.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres } from "../src/store/postgres/postgres.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { startHerald } from "../test/harness/servers/herald.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";

const events = Number(process.argv[2] ?? 200_000);
const callers = 16;
const undisturbedMs = 10_000;
const rowsPerInsert = 5_000;
const oldAt = Date.now() - 100 * 24 * 3600 * 1000;

async function fill(driver: ReturnType<typeof openSqlite>): Promise<void> {
  await migrateStore(driver);
  const payload = JSON.stringify({ message: { body: "x".repeat(300) } });
  for (let from = 0; from < events; from += rowsPerInsert) {
    const rows = Array.from({ length: Math.min(rowsPerInsert, events - from) }, (_, index) => ({
      org: "old",
      offset: from + index + 1,
      kind: "message",
      id: createId(oldAt + from + index),
      cid: "c1",
      sender: "u1",
      mid: `m${from + index}`,
      fingerprint: "f".repeat(43),
      payload,
      created_at: oldAt,
    }));
    await driver.transaction(async (sql) => {
      await sql.limitTo(["old"]);
      await sql.rows.insert("event", rows);
    });
  }
  await driver.transaction((sql) =>
    sql.run("INSERT INTO organization (id, head, created_at) VALUES ('old', ?, 1)", events),
  );
  await driver.close();
}

/** Sends from sixteen callers, each one message at a time, until `isOver`; returns the durations in milliseconds. */
async function timeSends(send: () => Promise<unknown>, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const call = async () => {
    while (!isOver()) {
      const start = performance.now();
      await send();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return times.sort((left, right) => left - right);
}

function tell(what: string, times: number[], seconds: number): void {
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? Number.NaN).toFixed(1);
  const rate = Math.round(times.length / seconds);
  console.log(`${what}: ${rate} sends/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${times.at(-1)?.toFixed(1)} ms`);
}

async function measure(engine: string, folder: string, env: Record<string, string>): Promise<void> {
  const settings = {
    HERALD_RETENTION_MESSAGES_DAYS: "30",
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    ...env,
  };
  await using herald = await startHerald({ dataDir: folder, env: settings });
  const startedAt = performance.now();
  const org = await createOrganization(herald);
  const cid = await org.conversation(["alice", "bob"]);
  const send = () => org.sent("alice", { cid, body: "x" });
  const isRemoved = () => herald.logs().includes("removed expired data");
  const during = await timeSends(send, isRemoved);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${engine}: ${events} events removed in ${seconds.toFixed(1)} s`);
  tell("  while they were removed", during, seconds);
  const end = performance.now() + undisturbedMs;
  tell("  undisturbed", await timeSends(send, () => performance.now() > end), undisturbedMs / 1000);
}

const folder = mkdtempSync(join(tmpdir(), "herald-purge-"));
await fill(openSqlite(join(folder, "herald.db")));
await measure("SQLite", folder, {});
rmSync(folder, { recursive: true });

const postgres = await startPostgres();
if (postgres !== undefined) {
  const url = await postgres.createDatabase();
  await fill(connectPostgres(url));
  const data = mkdtempSync(join(tmpdir(), "herald-purge-"));
  await measure("PostgreSQL", data, { HERALD_DATABASE_URL: url });
  rmSync(data, { recursive: true });
  postgres.stop();
}
