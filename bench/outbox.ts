// Measures the outbox: `exec bun bench/outbox.ts --rows 100000 --organizations 4` commits so many rows at once and prints how fast one
// node sends them and what memory that takes, and then how long single rows take from their commit to a listener. With
// `--database postgres`, Herald's own store is PostgreSQL, too.
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { runHerald, startHerald } from "../test/harness/servers/herald.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";
import { memoryOf, peakMemoryOf } from "./harness/meter.ts";
import { percentile } from "./harness/report/statistics.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    rows: { type: "string", default: "100000" },
    organizations: { type: "string", default: "4" },
    singles: { type: "string", default: "200" },
  },
});
const rows = Number(values.rows);
const organizations = Number(values.organizations);
const singles = Number(values.singles);
const lookEveryMs = 50;
const cid = "hall";

const postgres = await startPostgres();
if (postgres === undefined) process.exit(1);
const url = await postgres.createDatabase();
const own = values.database === "postgres" ? { HERALD_DATABASE_URL: await postgres.createDatabase() } : {};
const sql = new SQL(url, { max: 1 });
await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
const herald = await startHerald({ env: { HERALD_OUTBOX_URL: url, ...own } });
const orgs = await Promise.all(Array.from({ length: organizations }, () => createOrganization(herald)));
for (const org of orgs) await org.conversation(["alice", "bob"], cid);

const requestOf = (org: string) =>
  JSON.stringify({ organizationId: org, senderId: "alice", message: { cid, body: "x".repeat(100) } });
const waiting = async (): Promise<number> => (await sql`SELECT count(*)::int AS count FROM herald.outbox`)[0].count;

const before = memoryOf(herald.pid);
await sql.begin(async (transaction) => {
  for (const { id } of orgs)
    await transaction`SELECT count(herald.send(${requestOf(id)}::text::jsonb)) FROM generate_series(1, ${rows / organizations})`;
});
const begunAt = performance.now();
while ((await waiting()) > 0) await Bun.sleep(lookEveryMs);
const seconds = (performance.now() - begunAt) / 1000;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
console.log(
  `${rows} rows of ${organizations} organizations, ${values.database}: ${seconds.toFixed(1)} s, ${(rows / seconds).toFixed(0)} rows/s`,
);
console.log(`memory: ${megabytes(before)} MB before, at most ${megabytes(peakMemoryOf(herald.pid))} MB`);

const [org] = orgs;
if (org === undefined) process.exit(1);
using bob = await org.socket("bob");
const times: number[] = [];
for (let number = 0; number < singles; number++) {
  const committedAt = performance.now();
  await sql`SELECT herald.send(${requestOf(org.id)}::text::jsonb)`;
  await bob.next();
  times.push(performance.now() - committedAt);
}
const ms = (share: number) => percentile(times, share).toFixed(1);
console.log(`one row, from the call to the listener: p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, worst ${ms(1)} ms`);
await herald[Symbol.asyncDispose]();
await sql.close();
postgres.stop();
process.exit(0);
