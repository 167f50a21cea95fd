// Measures what unread counts cost: `exec bun bench/reads.ts` fills a database with a conversation of a million messages
// (or the number given as first argument), one of a thousand, and a hundred of 150, and times the store's reads on both
// engines. Each line is a user with another place in them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { derivedIdOf } from "../src/lib/text/ids.ts";
import { migrateStore } from "../src/store/migrate.ts";
import { connectPostgres, openPostgres } from "../src/store/postgres/postgres.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { openSqliteThread } from "../src/store/sqlite/thread.ts";
import { createStore, type Database } from "../src/store/store.ts";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { spreadOf } from "./harness/report/statistics.ts";

const large = Number(process.argv[2] ?? 1_000_000);
const small = 1_000;
const many = { conversations: 100, messages: 150 };
const runs = 200;
const warmUps = 50;
const rowsPerInsert = 5_000;
const org = "o";
const [firstOfSmall, firstOfMany] = [large + 1, large + small + 1];
const head = large + small + many.conversations * many.messages;
const idAt = (offset: number) => derivedIdOf(1_000_000 + offset, String(offset));
const roomOf = (index: number) => `room ${index % many.conversations}`;

/** The conversation of the message at an offset. */
function cidAt(offset: number): string {
  if (offset < firstOfSmall) return "large";
  return offset < firstOfMany ? "small" : roomOf(offset - firstOfMany);
}

/** Who takes part where, and up to which offset each has read. */
const readers: { uid: string; cid: string; readTo: number }[] = [
  { uid: "3 unread of large", cid: "large", readTo: large - 3 },
  { uid: "3 unread of small", cid: "small", readTo: large + small - 3 },
  { uid: "all unread of large", cid: "large", readTo: 0 },
  { uid: "all unread of small", cid: "small", readTo: 0 },
  ...Array.from({ length: many.conversations }, (_, index) => [
    { uid: "0 unread of 100", cid: roomOf(index), readTo: head },
    { uid: "3 unread of 100", cid: roomOf(index), readTo: head - 3 * many.conversations },
    { uid: "all unread of 100", cid: roomOf(index), readTo: 0 },
  ]).flat(),
];

async function fill(driver: ReturnType<typeof openSqlite>): Promise<void> {
  await migrateStore(driver);
  const payload = JSON.stringify({ message: { body: "x".repeat(200) } });
  const message = (offset: number) => ({
    org,
    offset,
    kind: "message",
    id: idAt(offset),
    cid: cidAt(offset),
    sender: offset % 4 === 0 ? "another" : "author",
    payload,
    created_at: offset,
  });
  const cids = ["large", "small", ...Array.from({ length: many.conversations }, (_, index) => roomOf(index))];
  const conversations = cids.map((id) => ({ org, id, log_start: 0, created_at: 1, updated_at: 1, participants: 2 }));
  const participants = readers.map(({ uid, cid, readTo }) => ({ org, cid, uid, created_at: 1, read_to: readTo }));
  await driver.transaction(async (sql) => {
    await sql.limitTo([org]);
    await sql.run("INSERT INTO organization (id, head, created_at) VALUES (?, ?, 1)", org, head);
    await sql.rows.insert("conversation", conversations);
    await sql.rows.insert(
      "participant",
      participants.map((row) => ({ ...row, log_start: 0 })),
    );
  });
  for (let from = 1; from <= head; from += rowsPerInsert) {
    const rows = Array.from({ length: Math.min(rowsPerInsert, head - from + 1) }, (_, index) => message(from + index));
    await driver.transaction(async (sql) => {
      await sql.limitTo([org]);
      await sql.rows.insert("event", rows);
    });
  }
  await driver.close();
}

async function time(work: () => Promise<unknown>): Promise<{ p50Ms: number; p99Ms: number }> {
  const times: number[] = [];
  for (let run = -warmUps; run < runs; run++) {
    const startedAt = performance.now();
    await work();
    if (run >= 0) times.push(performance.now() - startedAt);
  }
  return spreadOf(times);
}

async function measure(engine: string, database: Database): Promise<void> {
  const { standing, readMarks } = createStore({ ...database, announce: () => undefined });
  const medians = new Map<string, number>();
  /** Tells a measurement and, of the small conversation, the ratio of the large one to it. */
  const tell = (what: string, { p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }) => {
    medians.set(what, p50Ms);
    const ofLarge = medians.get(what.replace("of small", "of large")) ?? p50Ms;
    const ratio = what.includes("of small") ? `, large / small ${(ofLarge / p50Ms).toFixed(2)}` : "";
    console.log(`${engine}, ${what}: p50 ${p50Ms.toFixed(3)} ms, p99 ${p99Ms.toFixed(3)} ms${ratio}`);
  };
  for (const uid of new Set(readers.map((reader) => reader.uid))) {
    const list = () => standing.conversations(org, uid, { after: undefined, limit: 100 });
    tell(`conversation_list, ${uid}`, await time(list));
  }
  for (const { uid, cid } of readers.slice(0, 4)) {
    const look = () => readMarks.scopeOf({ org, cid, uid, ids: undefined });
    tell(`a read, ${uid}`, await time(look));
  }
  for (const [cid, last] of [["large", large] as const, ["small", large + small] as const]) {
    const ids = Array.from({ length: 100 }, (_, index) => idAt(last - index));
    const look = () => readMarks.scopeOf({ org, cid, uid: `all unread of ${cid}`, ids });
    tell(`a read of 100 ids, all unread of ${cid}`, await time(look));
  }
  await database.close();
}

const folder = mkdtempSync(join(tmpdir(), "herald-reads-"));
const file = join(folder, "herald.db");
await fill(openSqlite(file));
const events = { announce: () => undefined, onCrash: (error: Error) => console.error(error) };
await measure("SQLite", await openSqliteThread(file, events));
rmSync(folder, { recursive: true });

const postgres = await startPostgres();
if (postgres !== undefined) {
  const url = await postgres.createDatabase();
  await fill(connectPostgres(url));
  const analyze = connectPostgres(url);
  await analyze.run("VACUUM ANALYZE event");
  await analyze.close();
  await measure("PostgreSQL", await openPostgres(url, events.announce));
  postgres.stop();
}
