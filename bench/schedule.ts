// Measures scheduled sends: `exec bun bench/schedule.ts --database sqlite --waiting 100000` starts a server with so many
// waiting, fills another with none, and compares them in turns: CPU at rest, and the rate of 64 callers that send. Then
// schedules a thousand sends for the same second, of one organization and of ten, and prints how late they were sent.
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import type { ScheduledSend } from "../test/harness/clients/wire.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../test/harness/servers/herald.ts";
import { createOrganization, readList } from "../test/harness/servers/organization.ts";
import { scheduling } from "../test/harness/servers/scheduling.ts";
import { cpuMsOf } from "./harness/meter.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    waiting: { type: "string", default: "100000" },
    due: { type: "string", default: "1000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "4" },
  },
});
const waiting = Number(values.waiting);
const due = Number(values.due);
const seconds = Number(values.seconds);
const callers = 64;
const putsAtOnce = 32;
const filledOrganization = "waiting";
const dayMs = 86_400_000;
const settleMs = 4_000;

/** Waiting sends from an hour ahead on, one a second, each with a message of a hundred characters. */
const rowsOfSchedule = (series: string, n: string) => `INSERT INTO scheduled_send
  (org, id, state, send_at, sender, request, bytes, fingerprint, revision, key_id, created_at)
  SELECT '${filledOrganization}', 's' || ${n}, 'waiting', ${Date.now() + dayMs} + ${n} * 1000, 'alice',
    '{"organizationId":"waiting","senderId":"alice","message":{"cid":"room","body":"' || '${"x".repeat(100)}' || '"}}',
    200, 'f' || ${n}, 'r' || ${n}, 'bootstrap', 1 FROM ${series}`;
const rowOfOrganization = `INSERT INTO schedule (org, next_at, waiting)
  VALUES ('${filledOrganization}', ${Date.now() + dayMs}, ${waiting})`;

type Server = { herald: Herald; [Symbol.asyncDispose](): Promise<void> };

async function startFilled(count: number, databaseUrl: string | undefined): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-schedule-"));
  const env = {
    HERALD_ADMIN_API_KEY: TEST_KEY,
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    ...(databaseUrl !== undefined && { HERALD_DATABASE_URL: databaseUrl }),
  };
  const first = await startHerald({ env, dataDir });
  await (await createOrganization(first, filledOrganization)).conversation(["alice"], "room");
  await first.stop();
  if (count > 0 && databaseUrl === undefined) {
    using database = new Database(join(dataDir, "herald.db"));
    database.run(
      rowsOfSchedule(
        `(WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count}) SELECT n FROM series)`,
        "n",
      ),
    );
    database.run(rowOfOrganization);
  } else if (count > 0) {
    await using database = new SQL(databaseUrl ?? "", { max: 1 });
    await database.begin(async (sql) => {
      await sql.unsafe(`SET LOCAL herald.orgs = '["${filledOrganization}"]'`);
      await sql.unsafe(rowsOfSchedule(`generate_series(1, ${count}) AS series (n)`, "n"));
      await sql.unsafe(rowOfOrganization);
    });
    await database.unsafe("ANALYZE scheduled_send");
  }
  const herald = await startHerald({ env, dataDir });
  return {
    herald,
    async [Symbol.asyncDispose]() {
      await herald[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function restingCpu({ herald }: Server): Promise<number> {
  const before = cpuMsOf(herald.pid);
  await Bun.sleep(seconds * 1_000);
  return (cpuMsOf(herald.pid) - before) / (seconds * 10);
}

async function sendRate({ herald }: Server): Promise<number> {
  const org = await createOrganization(herald);
  const cid = await org.conversation(["alice"]);
  let sent = 0;
  const end = performance.now() + seconds * 1_000;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (; performance.now() < end; sent++) await org.sent("alice", { cid, body: "x".repeat(100) });
    }),
  );
  return sent / ((performance.now() - startedAt) / 1_000);
}

/** Schedules sends for the same second, and returns how long after their time they were sent, in order. */
async function lateness({ herald }: Server, organizations: number): Promise<number[]> {
  const orgs = await Promise.all(
    Array.from({ length: organizations }, async () => {
      const org = await createOrganization(herald);
      return { org, cid: await org.conversation(["alice"]) };
    }),
  );
  const at = Date.now() + 4_000;
  const jobs = Array.from({ length: due }, (_, n) => n).values();
  await Promise.all(
    Array.from({ length: putsAtOnce }, async () => {
      for (const n of jobs) {
        const target = orgs[n % organizations];
        if (target === undefined) return;
        const { put, messageOf } = scheduling(target.org);
        const request = messageOf("alice", { cid: target.cid, body: "x".repeat(100) });
        const answer = await put(`s${n}`, { send_at: new Date(at).toISOString(), request });
        if (answer.status !== 201) throw new Error(answer.text);
      }
    }),
  );
  if (Date.now() > at) throw new Error("scheduling took longer than the time until they are due");
  await Bun.sleep(at - Date.now() + 3_000);
  const late: number[] = [];
  for (const { org } of orgs)
    for (const { state, sent_at } of await readList<ScheduledSend>(herald, org.path("scheduled")))
      late.push(state === "sent" ? Date.parse(sent_at ?? "") - at : Number.POSITIVE_INFINITY);
  return late.sort((left, right) => left - right);
}

const middle = (numbers: number[]) =>
  numbers.toSorted((left, right) => left - right)[numbers.length >> 1] ?? Number.NaN;

await using engines = new AsyncDisposableStack();
const postgres = values.database === "sqlite" ? undefined : await startPostgres();
if (postgres !== undefined) engines.defer(() => postgres.stop());
const databaseOf = async () => (postgres === undefined ? undefined : await postgres.createDatabase());
const full = engines.use(await startFilled(waiting, await databaseOf()));
const empty = engines.use(await startFilled(0, await databaseOf()));
const figures = { full: [] as number[], empty: [] as number[], ratios: [] as number[] };
for (let round = 0; round < Number(values.rounds); round++) {
  const [rest, restOfEmpty] = await Promise.all([restingCpu(full), restingCpu(empty)]);
  figures.full.push(rest);
  figures.empty.push(restOfEmpty);
  const isFullFirst = round % 2 === 0;
  const first = await sendRate(isFullFirst ? full : empty);
  const second = await sendRate(isFullFirst ? empty : full);
  const [rate, rateOfEmpty] = isFullFirst ? [first, second] : [second, first];
  await Bun.sleep(settleMs); // so that no node rests from what it has just sent
  figures.ratios.push(rate / rateOfEmpty);
  console.log(
    `at rest: ${rest.toFixed(2)} % of a core with ${waiting} waiting, ${restOfEmpty.toFixed(2)} % with none; sends: ${rate.toFixed(0)} /s and ${rateOfEmpty.toFixed(0)} /s`,
  );
}
console.log(
  `medians: ${middle(figures.full).toFixed(2)} % and ${middle(figures.empty).toFixed(2)} %, ratio of the send rates ${middle(figures.ratios).toFixed(3)}`,
);
for (const organizations of [1, 10]) {
  const late = await lateness(full, organizations);
  const shown = [0, late.length >> 1, late.length - 1].map((index) => `${late[index]} ms`).join(", ");
  console.log(`${late.length} due at once, of ${organizations}: first, median and last sent after ${shown}`);
}
