// Measures what a user should have, and has: `exec bun bench/user-deliveries.ts --database sqlite` (or `postgres`) fills an organization
// with 10 million events (`--events`) in 10,000 conversations, a tenth of them system messages to three users each, and a user who
// takes part in 1,000 of the conversations. It times pages of that user's deliveries, as a node reads them, on a store of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { derivedIdOf } from "../src/lib/text/ids.ts";
import { createUserDeliveries } from "../src/services/delivery/user-deliveries.ts";
import { toDeliveryRow } from "../src/store/delivery/delivery.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres, openPostgres } from "../src/store/postgres/postgres.ts";
import type { Driver, Row } from "../src/store/sql/driver.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { openSqliteThread } from "../src/store/sqlite/thread.ts";
import { createStore } from "../src/store/store.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { createRandom } from "../test/harness/random.ts";
import { spreadOf } from "./harness/report/statistics.ts";

const { values } = parseArgs({
  options: { database: { type: "string", default: "sqlite" }, events: { type: "string", default: "10000000" } },
});
const events = Number(values.events);
const conversations = 10_000;
const ofUser = 1_000;
const users = 10_000;
const delivered = 20_000; // the newest events have rows of deliveries
const rowsPerInsert = 5_000;
const runs = 60;
const org = "o";
const uid = "user-0";
const { integer } = createRandom(1);

/** The event at an offset: nine in ten are messages. Our user is one of three whom a system message names in 3,333. */
function eventAt(offset: number): Row {
  const id = derivedIdOf(1_000_000_000 + offset, String(offset));
  const sent = {
    org,
    offset,
    id,
    sender: "user-1",
    mid: id,
    fingerprint: id.slice(0, 16),
    created_at: 1_000_000_000 + offset,
  };
  if (offset % 10 !== 0) {
    const cid = `room-${integer(0, conversations - 1)}`;
    return {
      ...sent,
      kind: "message",
      cid,
      uids: null,
      payload: JSON.stringify({ message: { _id: id, cid, body: "x" } }),
    };
  }
  const uids = [0, 1, 2].map(() => `user-${integer(0, users - 1)}`);
  return {
    ...sent,
    kind: "system",
    cid: null,
    uids: JSON.stringify(uids),
    payload: JSON.stringify({ system_message: { _id: id } }),
  };
}

/** A row for each of the newest events, as if each had been played by itself to ten users who are connected. */
function deliveryOf({ offset, id, cid, created_at }: Row): Row {
  const heard = Array.from({ length: 10 }, (_, index) => `user-${index}`);
  const at = Number(created_at);
  const play: [number, number, number] = [Number(offset), at, at];
  const row = { id: derivedIdOf(at, `d${id}`), org, kind: "delivery" as const, connections: 1, audience: undefined };
  return toDeliveryRow({ ...row, cid: cid === null ? undefined : String(cid), uids: heard, plays: [play] });
}

async function insert(driver: Driver, table: string, rows: Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerInsert)
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.rows.insert(table, rows.slice(from, from + rowsPerInsert));
    });
}

async function fill(driver: Driver): Promise<void> {
  await migrateStore(driver);
  const created = { org, created_at: 1, log_start: 0 };
  const names = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const rooms = names(conversations, "room");
  await insert(driver, "organization", [{ id: org, head: events, created_at: 1, counted_to: events }]);
  await insert(
    driver,
    "user",
    names(users, "user").map((id) => ({ ...created, id })),
  );
  await insert(
    driver,
    "conversation",
    rooms.map((id) => ({ ...created, id, updated_at: 1, participants: 2 })),
  );
  await insert(
    driver,
    "participant",
    rooms.slice(0, ofUser).map((cid) => ({ ...created, cid, uid })),
  );
  for (let from = 1; from <= events; from += rowsPerInsert) {
    const rows = Array.from({ length: Math.min(rowsPerInsert, events - from + 1) }, (_, index) =>
      eventAt(from + index),
    );
    await insert(driver, "event", rows);
    await insert(driver, "delivery", rows.filter(({ offset }) => Number(offset) > events - delivered).map(deliveryOf));
    if (from % 1_000_000 < rowsPerInsert) console.log(`${from} events`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "herald-user-deliveries-"));
const file = join(folder, "herald.db");
const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const url = await postgres?.createDatabase();
const driver = url === undefined ? openSqlite(file) : connectPostgres(url);
await fill(driver);
if (url !== undefined) for (const table of ["event", "delivery"]) await driver.run(`VACUUM ANALYZE ${table}`);
await driver.close();
const onCrash = (error: Error) => console.error(error);
const database =
  url === undefined
    ? await openSqliteThread(file, { announce: () => undefined, onCrash })
    : await openPostgres(url, () => undefined);
const store = createStore({ ...database, announce: () => undefined });
const startedAt = performance.now();
while (await store.addressees.addSome(org));
console.log(`addressees of ${events / 10} system messages: ${Math.round(performance.now() - startedAt)} ms`);
const deliveries = createUserDeliveries({ ...store, longReads: { run: (work) => work() } });

/** Times pages one after the other: of `runs` walks, the first page, or the pages after it. */
async function time(
  what: string,
  query: { limit: number; state?: "missing" | "delivered" },
  pages: number,
): Promise<void> {
  const times: number[] = [];
  for (let after: string | undefined, run = 0; run < runs; run++) {
    const askedAt = performance.now();
    const page = await deliveries.page(
      org,
      uid,
      { ...query, after: run % pages === 0 ? undefined : after },
      async () => undefined,
    );
    times.push(performance.now() - askedAt);
    after = page.cursor ?? undefined;
  }
  const { p50Ms, p99Ms } = spreadOf(times);
  console.log(`${values.database}, ${what}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
}

await time("first page of 100", { limit: 100 }, 1);
await time("pages of 100, one after the other", { limit: 100 }, runs);
await time("first page of 1,000", { limit: 1_000 }, 1);
await time("first page of 100 missing", { limit: 100, state: "missing" }, 1);
await database.close();
postgres?.stop();
rmSync(folder, { recursive: true });
process.exit(0);
