// Measures what sends feel of a migration on PostgreSQL: `exec bun bench/migration.ts --events 200000 --old <folder>`
// fills a database with so many events and starts the version in that folder (a clone of an earlier revision, after
// `npm ci`), to which eight callers send at a steady rate. Meanwhile this version migrates: first its own migrations,
// then a sample that changes the largest table by a column, a backfill of all rows and an index.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { migrateStore } from "../src/store/migrate.ts";
import { migrationOf, migrations } from "../src/store/migrations.ts";
import { connectPostgres } from "../src/store/postgres/postgres.ts";
import { within } from "../test/harness/deadline.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "200000" },
    old: { type: "string" },
    rate: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
  },
});
const events = Number(values.events);
const rate = Number(values.rate);
const phaseMs = Number(values.seconds) * 1_000;
if (values.old === undefined) throw new Error("--old names the folder of the version before");
const { old } = values;

const callers = 8;
const key = "bench-key-0123456789abcdefghijklmnopqrstuv";
const org = "migrated";
const cid = "c1";
const rowsPerInsert = 250_000;
const giveUpMs = 30_000;

const sample = `-- expand, 9.0.0
ALTER TABLE event ADD COLUMN shade BIGINT;

-- backfill: event (org, "offset")
UPDATE event SET shade = LENGTH(payload) WHERE shade IS NULL;

CREATE INDEX CONCURRENTLY event_by_shade ON event (org, shade);
`;

type Send = { ms: number; status: number };

/**
 * Creates events in a hundred conversations of the organization that receives the sends. Ids are UUIDv7, ids of sends
 * random.
 */
async function fill(url: string): Promise<void> {
  const sql = new SQL(url, { max: 1 });
  await sql.unsafe("SET synchronous_commit = off");
  await sql.unsafe("INSERT INTO organization (id, head, created_at) VALUES ($1, $2, 1)", [org, events]);
  for (let from = 1; from <= events; from += rowsPerInsert) {
    await sql.unsafe(
      `INSERT INTO event (org, "offset", kind, id, cid, sender, mid, fingerprint, payload, created_at, key_id, recipients)
       SELECT '${org}', n, 'message',
         LPAD(TO_HEX(1700000000000 + n), 12, '0') || '-7000-8000-' || LPAD(TO_HEX(n), 12, '0'),
         'c' || n % 100, 'u' || n % 1000, MD5(CAST(n AS TEXT)), LEFT(MD5(CAST(n AS TEXT)) || MD5('x'), 43),
         '{"message":{"_id":"' || n || '","body":"' || REPEAT('x', 300) || '"}}', 1700000000000 + n, 'k', 2
       FROM generate_series(CAST(${from} AS BIGINT), ${Math.min(events, from + rowsPerInsert - 1)}) AS n`,
    );
  }
  await sql.unsafe("VACUUM (ANALYZE) event");
  await sql.unsafe("CHECKPOINT");
  await sql.close();
}

/** Starts a version of Herald on the database; it migrates an empty one as far as it knows. */
async function startVersion(folder: string, databaseUrl: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-migration-"));
  const child = Bun.spawn([process.execPath, join(folder, "src/cli/herald.ts"), "serve"], {
    cwd: folder,
    env: {
      ...process.env,
      HERALD_PORT: "0",
      HERALD_DATA_DIR: dataDir,
      HERALD_DATABASE_URL: databaseUrl,
      HERALD_ADMIN_API_KEY: key,
      HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
      HERALD_LOG_LEVEL: "info",
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  const listening = async (): Promise<string> => {
    for (;;) {
      const found = /"url":"([^"]+)\/?"[^\n]*"listening"/.exec(said)?.[1];
      if (found !== undefined) return found.replace(/\/$/, "");
      const { value, done } = await lines.read();
      if (done) throw new Error(`it ended: ${said}`);
      said += value;
    }
  };
  const url = await within(listening(), "the version before to listen", giveUpMs);
  void lines.cancel();
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function ask(url: string, method: string, path: string, body: object): Promise<Response> {
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/json" };
  return fetch(url + path, { method, headers, body: JSON.stringify(body) });
}

/** Sends at a steady rate, however long responses take, until `isOver`. Durations count from when the send was due. */
async function sendSteadily(url: string, isOver: () => boolean): Promise<Send[]> {
  const sends: Send[] = [];
  const startedAt = performance.now();
  const call = async (caller: number) => {
    for (let turn = 0; !isOver(); turn++) {
      const dueAt = startedAt + ((turn * callers + caller) * 1_000) / rate;
      await Bun.sleep(Math.max(0, dueAt - performance.now()));
      const begunAt = Math.min(dueAt, performance.now()); // a sleep may end slightly early
      const message = { id: crypto.randomUUID(), cid, body: "x".repeat(100) };
      const status = await ask(url, "POST", "/admin/message", { organizationId: org, senderId: "alice", message })
        .then((answer) => answer.bytes().then(() => answer.status))
        .catch(() => 0);
      sends.push({ ms: performance.now() - begunAt, status });
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  return sends;
}

function tell(phase: string, sends: Send[], tookMs: number): void {
  const times = sends.map(({ ms }) => ms).sort((left, right) => left - right);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? Number.NaN).toFixed(1);
  const errors = sends.filter(({ status }) => status !== 201).length;
  const figures = [sends.length, at(0.5), at(0.99), times.at(-1)?.toFixed(1), errors, (tookMs / 1_000).toFixed(1)];
  console.log(`| ${phase} | ${figures.join(" | ")} |`);
}

const postgres = await startPostgres();
if (postgres === undefined) throw new Error("PostgreSQL is not installed");
const url = await postgres.createDatabase();
const node = await startVersion(old, url);
const filledAt = performance.now();
await fill(postgres.asSuperuser(url));
console.log(`${events} events filled in ${((performance.now() - filledAt) / 1_000).toFixed(1)} s\n`);
await ask(node.url, "PUT", `/admin/organizations/${org}/conversations/${cid}`, { participants: ["alice", "bob"] });

const warmUntil = performance.now() + 2_000;
await sendSteadily(node.url, () => performance.now() > warmUntil);
console.log(
  "| sends of the version before | sends | p50 ms | p99 ms | worst ms | errors | s |\n|---|---|---|---|---|---|---|",
);

async function measureFor(phase: string): Promise<void> {
  const until = performance.now() + phaseMs;
  tell(phase, await sendSteadily(node.url, () => performance.now() > until), phaseMs);
}

async function measureWhile(phase: string, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const startedAt = performance.now();
  const ended = work.finally(() => {
    isOver = true;
  });
  const sends = await sendSteadily(node.url, () => isOver);
  await ended;
  tell(phase, sends, performance.now() - startedAt);
}

const driver = connectPostgres(url);
const known = [...migrations, migrationOf("9999-sample", sample)];
const progress: string[] = [];
await measureFor("undisturbed");
await measureWhile("while this version brings what is its own", migrateStore(driver));
await measureWhile(
  "while the sample changes all rows",
  migrateStore(driver, { known, tell: (message, facts) => void progress.push(`${message} ${JSON.stringify(facts)}`) }),
);
await measureFor("afterwards");
const [version] = await driver.all("SELECT version FROM schema_version");
console.log(`\nthe oldest version that may use it: ${version?.version}\n${progress.join("\n")}`);
const steps = await driver.all("SELECT name, step, rows, took_ms FROM schema_step ORDER BY migration, step");
for (const { name, step, rows, took_ms } of steps) console.log(`${name} step ${step}: ${rows} rows, ${took_ms} ms`);
await driver.close();
await node.stop();
const again = await startVersion(old, url);
const { status } = await ask(again.url, "POST", "/admin/message", {
  organizationId: org,
  senderId: "alice",
  message: { cid, body: "again" },
});
console.log(`the version before starts again, and answers a send with ${status}`);
await again.stop();
postgres.stop();
