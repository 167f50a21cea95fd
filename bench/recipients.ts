// Measures lists of recipients: `exec bun bench/recipients.ts --database sqlite` (or `postgres`) fills a database with messages of
// conversations of 1,000, 10,000 and 100,000 participants, of whom all but one in a thousand have the message and a third have
// acknowledged it. It times the first page of each message, as a node that knows nothing of it yet answers, then further pages,
// pages of a thousand, and the walk through those who do not have it. Meanwhile another organization sends every 20 ms.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createId } from "../src/lib/text/ids.ts";
import { toDeliveryRow } from "../src/store/delivery/delivery.ts";
import { receiptOf } from "../src/store/delivery/receipts.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres } from "../src/store/postgres/postgres.ts";
import type { Driver, Row } from "../src/store/sql/driver.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { type Herald, startHerald } from "../test/harness/servers/herald.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";
import { beginSending } from "./harness/steady-sends.ts";

const { values } = parseArgs({ options: { database: { type: "string", default: "sqlite" } } });
const sizes = [1_000, 10_000, 100_000];
const messages = 5;
const sendEveryMs = 20;
const rowsPerInsert = 5_000;
const startedAt = Date.now() - 60_000;

type Page = { items: unknown[]; cursor: string | null };

const nameOf = (index: number) => `user-${String(index).padStart(8, "0")}`;
const orgOf = (size: number) => `org-${size}`;

async function insert(driver: Driver, org: string, table: string, rows: Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerInsert)
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.rows.insert(table, rows.slice(from, from + rowsPerInsert));
    });
}

/** Fills an organization with one conversation of `size` and its messages; returns their ids. */
async function fill(driver: Driver, size: number): Promise<string[]> {
  const org = orgOf(size);
  const uids = Array.from({ length: size }, (_, index) => nameOf(index));
  const times = { created_at: startedAt, updated_at: startedAt };
  await insert(driver, org, "organization", [{ id: org, head: messages, created_at: startedAt }]);
  await insert(driver, org, "conversation", [{ org, id: "c", log_start: 0, participants: size, ...times }]);
  const joined = { created_at: startedAt, log_start: 0 };
  await insert(
    driver,
    org,
    "user",
    uids.map((id) => ({ org, id, ...joined })),
  );
  await insert(
    driver,
    org,
    "participant",
    uids.map((uid) => ({ org, cid: "c", uid, ...joined })),
  );
  const heard = uids.filter((_, index) => index % 1_000 !== 0);
  const ids: string[] = [];
  for (let offset = 1; offset <= messages; offset++) {
    const id = createId(startedAt);
    const audience = createId(startedAt);
    const sent = { org, offset, id, cid: "c", kind: "message", sender: nameOf(0), recipients: size };
    const payload = JSON.stringify({ message: { _id: id, from: nameOf(0), cid: "c", body: "x" } });
    await insert(driver, org, "event", [{ ...sent, payload, created_at: startedAt }]);
    const version = { org, cid: "c", offset, id: audience, parent: null, removed: "[]" };
    await insert(driver, org, "audience", [{ ...version, added: JSON.stringify(heard) }]);
    const delivered = toDeliveryRow({
      ...{ id: createId(startedAt), org, cid: "c", kind: "delivery", uids: undefined },
      ...{ connections: heard.length, audience, plays: [[offset, startedAt, startedAt]] },
    });
    await insert(driver, org, "delivery", [delivered]);
    const acknowledged = heard.filter((_, index) => index % 3 === 0);
    const receipts = acknowledged.map((uid) =>
      toDeliveryRow(receiptOf({ event: { org, offset, id, cid: "c" }, uid, at: startedAt })),
    );
    await insert(driver, org, "delivery", receipts);
    ids.push(id);
  }
  return ids;
}

function describe(took: number[]): string {
  const sorted = took.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1);
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} ms`;
}

async function read(herald: Herald, size: number, id: string, query: string): Promise<{ page: Page; ms: number }> {
  const path = `/admin/organizations/${orgOf(size)}/messages/${id}/recipients?${query}`;
  const askedAt = performance.now();
  const { status, body, text } = await herald.admin<Page>("GET", path);
  if (status !== 200) throw new Error(text);
  return { page: body, ms: performance.now() - askedAt };
}

/** Reads up to `most` pages, and returns how long each took. */
async function walk(herald: Herald, size: number, id: string, query: string, most: number): Promise<number[]> {
  const took: number[] = [];
  for (let cursor: string | null = ""; cursor !== null && took.length < most; ) {
    const rest: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { page, ms } = await read(herald, size, id, query + rest);
    took.push(ms);
    cursor = page.cursor;
  }
  return took;
}

const folder = mkdtempSync(join(tmpdir(), "herald-recipients-"));
const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const url = await postgres?.createDatabase();
const driver = url === undefined ? openSqlite(join(folder, "herald.db")) : connectPostgres(url);
await migrateStore(driver);
const ids = new Map<number, string[]>();
for (const size of sizes) ids.set(size, await fill(driver, size));
await driver.close();
const herald = await startHerald({
  dataDir: folder,
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    ...(url !== undefined && { HERALD_DATABASE_URL: url }),
  },
});
try {
  const sender = await createOrganization(herald);
  const cid = await sender.conversation(["alice"]);
  const quiet = beginSending(sender, cid, sendEveryMs);
  await Bun.sleep(2_000);
  console.log(`${values.database}: sends without lists ${describe(await quiet.stop())}`);
  for (const size of sizes) {
    const sending = beginSending(sender, cid, sendEveryMs);
    const first: number[] = [];
    for (const id of ids.get(size) ?? []) {
      first.push((await read(herald, size, id, "limit=100")).ms);
      await Bun.sleep(200);
    }
    const last = ids.get(size)?.at(-1) ?? "";
    const next = await walk(herald, size, last, "limit=100", 100);
    const long = await walk(herald, size, last, "limit=1000", 100);
    const missing = await walk(herald, size, last, "limit=100&state=missing", 100);
    console.log(`${size} participants (p50 / p99 / worst):`);
    console.log(`  first page of each message: ${describe(first)}`);
    console.log(`  pages of 100: ${describe(next)}; of 1,000: ${describe(long)}`);
    console.log(`  missing: ${missing.length} pages, ${describe(missing)}`);
    console.log(`  sends meanwhile: ${describe(await sending.stop())}`);
  }
} finally {
  await herald.kill();
  postgres?.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);
