import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Driver } from "../sql/driver.ts";
import { openSqliteReaders } from "./readers.ts";
import { openSqlite } from "./sqlite.ts";

const count =
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT COUNT(*) AS count FROM n";
const page = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n";
const long = 50_000;
const refusal = { code: "unavailable" };

describe("threads that read SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-readers-"));
  const file = join(folder, "herald.db");
  let driver: Driver;

  beforeAll(async () => {
    driver = openSqlite(file);
    await driver.transaction((sql) => sql.run("CREATE TABLE t (v TEXT, n INTEGER)"));
  });
  afterAll(async () => {
    await driver.close();
    rmSync(folder, { recursive: true });
  });

  async function open(entry?: URL) {
    const crashes: Error[] = [];
    const readers = await openSqliteReaders({ file, onCrash: (error) => crashes.push(error), ...(entry && { entry }) });
    return { readers, crashes };
  }

  /** Writes the script of a misbehaving thread. */
  function entryOf(name: string, code: string): URL {
    const path = join(folder, `${name}.ts`);
    writeFileSync(path, `import { parentPort } from "node:worker_threads";\n${code}`);
    return pathToFileURL(path);
  }

  test("see everything committed before they were asked", async () => {
    const { readers } = await open();
    for (let value = 1; value <= 50; value++) {
      await driver.transaction((sql) => sql.run("INSERT INTO t VALUES (?, ?)", "é😀\u0001", value));
      const rows = await readers.allOf("o", "SELECT v, MAX(n) AS n, NULL AS absent FROM t");
      expect(rows).toEqual([{ v: "é😀\u0001", n: value, absent: null }]);
    }
    const [outcome] = await Promise.allSettled([readers.all("SELECT x FROM nowhere")]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { message: "no such table: nowhere" } });
    await readers.close();
  });

  test("let the event loop turn while they read, and organizations take turns", async () => {
    const { readers } = await open();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const done: string[] = [];
    const read = async (org: string, rows: number) => {
      await readers.allOf(org, count, rows);
      done.push(org);
    };
    await read("warm", long);
    const greedy = Array.from({ length: 40 }, () => read("greedy", long));
    await Promise.all([read("other", 1), read("third", 1)]);
    const before = done.filter((org) => org === "greedy").length;
    await Promise.all(greedy);
    clearInterval(timer);
    expect(before).toBeLessThanOrEqual(10);
    expect(turns).toBeGreaterThan(3);
    await readers.close();
  });

  /** Asks for `reads` at once, four times, and returns the most results that came in one turn of the event loop. */
  async function mostPerTurn(reads: number, busyMs: number, ...query: [text: string, rows: number]): Promise<number> {
    const { readers } = await open();
    let [inTurn, most] = [0, 0];
    let isOver = false;
    const countTurns = () => {
      inTurn = 0;
      if (!isOver) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const ask = async () => {
      for (let round = 0; round < 4; round++) {
        await readers.allOf("o", ...query);
        most = Math.max(most, ++inTurn);
        for (const until = performance.now() + busyMs; performance.now() < until; ); // makes threads faster than their answers are taken
      }
    };
    await Promise.all(Array.from({ length: reads }, ask));
    isOver = true;
    await readers.close();
    return most;
  }

  test("answer a bounded number of reads per turn of the event loop, however many are waiting", async () => {
    expect(await mostPerTurn(200, 0.2, count, 1)).toBeLessThanOrEqual(16 + 8); // those sent in this turn, and those in flight before it
  });

  test("answer one page of a thousand rows per thread and turn", async () => {
    expect(await mostPerTurn(40, 3, page, 1_000)).toBeLessThanOrEqual(2);
  });

  test("refuse more reads of one organization than may wait, and take another's", async () => {
    const { readers } = await open();
    const greedy = Array.from({ length: 20_000 }, () => readers.allOf("greedy", count, 10));
    const other = readers.allOf("other", count, 10);
    const results = await Promise.allSettled(greedy);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused.length).toBeWithin(3_900, 4_001);
    expect(refused[0]).toMatchObject(refusal);
    expect(await other).toEqual([{ count: 10 }]);
    await readers.close();
  });

  test("finish running reads when closed, refuse the rest, and can be closed twice", async () => {
    const { readers, crashes } = await open();
    const reads = Array.from({ length: 20 }, () => readers.allOf("o", count, long));
    const closed = readers.close();
    const outcomes = await Promise.allSettled(reads);
    await closed;
    const done = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(done).toBeWithin(1, 10);
    await expect(readers.all("SELECT 1 AS one")).rejects.toMatchObject(refusal);
    await readers.close();
    expect(crashes).toEqual([]);
  });

  test("reject every call, and report once, if a thread dies", async () => {
    const dying = `parentPort.on("message", () => process.exit(3));\nparentPort.postMessage({ kind: "opened" });`;
    const { readers, crashes } = await open(entryOf("dying", dying));
    const reads = Array.from({ length: 20 }, () => readers.all("SELECT 1 AS one"));
    for (const outcome of await Promise.allSettled(reads))
      expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
    await expect(readers.all("SELECT 1 AS one")).rejects.toMatchObject(refusal);
    expect(crashes).toHaveLength(1);
    await readers.close();
  });

  test("do not open if a thread cannot", async () => {
    const broken = entryOf("broken", `throw new Error("no such disk");`);
    await expect(open(broken)).rejects.toThrow("no such disk");
  });
});
