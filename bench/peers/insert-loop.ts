// Floor of group commit without HTTP: consecutive inserts into the real event table with its indexes, each with a
// flushed commit (WAL, FULL). GET /?ms=1500 runs the loop that long and returns the number of inserts.
import { join } from "node:path";
import { createId } from "../../src/lib/text/ids.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { benchOrg } from "../harness/organization.ts";
import { sayListening } from "../harness/servers.ts";

const [dataDir = "."] = process.argv.slice(2);
const insert = `INSERT INTO event (org, "offset", kind, id, cid, sender, mid, fingerprint, payload, created_at)
  VALUES (?, ?, 'message', ?, ?, ?, ?, ?, ?, ?)`;
const fingerprint = "f".repeat(43);
const payload = "p".repeat(320); // about the size of the event that the bench sends
const driver = openSqlite(join(dataDir, "insert-loop.db"));
await migrateStore(driver);
let offset = 0;

async function insertFor(ms: number): Promise<{ count: number; elapsedMs: number }> {
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < ms) {
    const values = [createId(), benchOrg.quiet, benchOrg.sender, crypto.randomUUID(), fingerprint, payload, Date.now()];
    await driver.transaction((sql) => sql.run(insert, benchOrg.id, ++offset, ...values));
    count++;
  }
  return { count, elapsedMs: performance.now() - startedAt };
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: async ({ url }) => Response.json(await insertFor(Number(new URL(url).searchParams.get("ms")))),
});
sayListening(server.port);
