import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openIdleClients } from "../../harness/clients/idle-clients.ts";
import { cpuMsOf } from "../../harness/meter.ts";
import type { CostRun } from "../../harness/report/costs.ts";
import { median } from "../../harness/report/statistics.ts";
import { startLoad } from "../sends.ts";
import { type Fixture, fillHall, inHall, sizes } from "./fixture.ts";

const callers = 64;
const storedAtLeast = 30_000;
const flushes = 200;
const flushBytes = 8 * 1024;

/**
 * Measures the bytes of a stored event, and what a single node on SQLite spends on a connect. Runs after
 * `costsOfEvents` of the same round.
 */
export async function costsOfStorage(fixture: Fixture): Promise<CostRun> {
  const [stored = { bytes: 0, count: 0 }]: { bytes: number; count: number }[] = await fixture.database`
    SELECT pg_total_relation_size('event')::float8 AS bytes, count(*)::int AS count FROM event`;

  const node = await fixture.startEmbedded();
  const file = join(node.folder, "herald.db");
  await fillHall(node);
  await (await openIdleClients(node, inHall.slice(sizes.many), "socket")).close();
  const before = cpuMsOf(node.pid);
  const clients = await openIdleClients(node, inHall.slice(0, sizes.few), "socket");
  const connectMs = (cpuMsOf(node.pid) - before) / clients.size;
  await clients.close();
  const load = await startLoad(node, callers);
  while (load.count() < storedAtLeast) await Bun.sleep(50);
  await load.stop();
  const count = load.count();
  await node.stop(); // closes the database, which merges its log into the file

  return {
    eventBytesPostgres: stored.bytes / stored.count,
    eventBytesSqlite: statSync(file).size / count,
    connectEmbeddedCpu: connectMs * 1000,
    flushMs: flushMsIn(node.folder),
  };
}

/** The median duration of many consecutive flushes of a small append. */
function flushMsIn(folder: string): number {
  const file = openSync(join(folder, "flushes"), "a");
  const bytes = Buffer.alloc(flushBytes, 1);
  const times = Array.from({ length: flushes }, () => {
    const startedAt = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return median(times);
}
