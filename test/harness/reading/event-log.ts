import { Database } from "bun:sqlite";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

/** What the store holds of one organization, read by SQL, bypassing Herald. */
export type StoredLog = {
  /** `_id` of every message, in the order of offsets. */
  messages: string[];
  /** Offsets from 1 up to the head that have no event. */
  holes: number;
  /** Ids of sends (kind, sender and id) with more than one row. */
  doubledIds: number;
};

type Row = { count: number; first: number | null; last: number | null; head: number; doubled: number };

const summary = (org: string) => `SELECT
  (SELECT count(*) FROM event WHERE org = ${org}) AS "count",
  (SELECT min("offset") FROM event WHERE org = ${org}) AS "first",
  (SELECT max("offset") FROM event WHERE org = ${org}) AS "last",
  (SELECT head FROM organization WHERE id = ${org}) AS "head",
  (SELECT count(*) FROM (SELECT 1 FROM event WHERE org = ${org} AND mid IS NOT NULL
    GROUP BY kind, sender, mid HAVING count(*) > 1) AS "twice") AS "doubled"`;
const messages = (org: string) => `SELECT id FROM event WHERE org = ${org} AND kind = 'message' ORDER BY "offset"`;

/** Reads from PostgreSQL. */
export async function readPostgresLog(url: string, org: string): Promise<StoredLog> {
  const sql = new SQL(url, { max: 1 });
  try {
    await sql`SELECT set_config('herald.orgs', ${JSON.stringify([org])}, false)`; // otherwise row-level security shows nothing
    const [row] = await sql.unsafe<Row[]>(summary("$1"), [org]);
    const rows = await sql.unsafe<{ id: string }[]>(messages("$1"), [org]);
    return toStoredLog(row, rows);
  } finally {
    await sql.close();
  }
}

const files = ["herald.db", "herald.db-wal"];
const mostCopies = 100;
const clockTickMs = 10; // of the times of files

/** Copies an embedded database as it is at one moment: again, if its server, which always has something to tidy up, wrote meanwhile. */
function copyDatabase(folder: string, copy: string): void {
  const state = () =>
    files.map((file) => statSync(join(folder, file), { bigint: true })).map(({ size, mtimeNs }) => [size, mtimeNs]);
  for (let copies = 0; copies < mostCopies; copies++) {
    const before = state().join();
    Bun.sleepSync(clockTickMs);
    for (const file of files) copyFileSync(join(folder, file), join(copy, file));
    if (state().join() === before) return;
  }
  throw new Error(`${folder} is written to all the time`);
}

/** Reads from the folder of an embedded database: from a copy, as SQLite does not follow `/proc/…/root`. */
export function readSqliteLog(folder: string, org: string): StoredLog {
  const copy = mkdtempSync(join(tmpdir(), "herald-copy-"));
  try {
    copyDatabase(folder, copy);
    using database = new Database(join(copy, "herald.db"));
    const row = database.query<Row, string[]>(summary("?1")).get(org);
    return toStoredLog(row ?? undefined, database.query<{ id: string }, string[]>(messages("?1")).all(org));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function toStoredLog(row: Row | undefined, ids: { id: string }[]): StoredLog {
  if (row === undefined) throw new Error("the database gave no summary");
  // PostgreSQL returns 64-bit numbers as text.
  const [count, first, last, head] = [row.count, row.first, row.last, row.head].map(Number);
  const isWhole = count === head && first === 1 && last === head;
  const holes = isWhole ? 0 : Math.max(1, Math.abs((head ?? 0) - (count ?? 0)));
  return { messages: ids.map(({ id }) => id), holes, doubledIds: Number(row.doubled) };
}
