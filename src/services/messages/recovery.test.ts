import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { midOfPiece } from "../../contract/messages/append.ts";
import { createInboxReads } from "../../store/inbox/inbox-reads.ts";
import { createHiddenReads } from "../../store/messages/hidings.ts";
import { createMissedEvents } from "../../store/messages/history.ts";
import { migrateStore } from "../../store/migrate.ts";
import { connectPostgres } from "../../store/postgres/postgres.ts";
import type { Driver } from "../../store/sql/driver.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { createRecovery } from "./recovery.ts";

setDefaultTimeout(60_000);

const org = "o";
const uid = "u";

/**
 * Fills an organization's log with events, each a message in the next of a hundred conversations; `uid` takes part in
 * those below `mine`.
 */
async function fill(driver: Driver, events: number, mine: number): Promise<void> {
  await migrateStore(driver);
  await driver.transaction(async (sql) => {
    await sql.limitTo([org]);
    await sql.run("INSERT INTO organization (id, head, created_at) VALUES (?, ?, 1)", org, events);
    const cids = Array.from({ length: 100 }, (_, index) => `c${index}`);
    const times = { created_at: 1, updated_at: 1 };
    await sql.rows.insert(
      "conversation",
      cids.map((id) => ({ org, id, log_start: 0, ...times })),
    );
    await sql.rows.insert(
      "participant",
      cids.slice(0, mine).map((cid) => ({ org, cid, uid, created_at: 1, log_start: 0 })),
    );
    const rows = Array.from({ length: events }, (_, index) => ({
      org,
      offset: index + 1,
      kind: "message",
      id: `e${index + 1}`,
      cid: `c${index % 100}`,
      payload: "{}",
      created_at: 1,
    }));
    await sql.rows.insert("event", rows);
  });
}

/** Replays what `uid` missed after the first `after` events of a log: the offsets, and the number of pages. */
async function replay(driver: Driver, head: number, after = 0) {
  const missed = createMissedEvents({ reader: driver });
  const recovery = createRecovery({
    missed,
    inboxes: createInboxReads({ reader: driver }),
    hidings: createHiddenReads({ reader: driver }),
    maxMessages: Number.POSITIVE_INFINITY,
    maxDays: 7,
    clock: { now: () => 1 },
  });
  const absence = { org, uid, head, hasInboxes: true };
  const offsets: number[] = [];
  for (let pages = 0; ; pages++) {
    const page = await recovery.read(absence, offsets.at(-1) ?? after, 1024 * 1024);
    if (page.length === 0) return { offsets, pages };
    offsets.push(...page.map(({ offset }) => offset));
  }
}

const offsetsOf = (events: number, mine: number, after = 0) =>
  Array.from({ length: events }, (_, index) => index + 1).filter(
    (offset) => offset > after && (offset - 1) % 100 < mine,
  );

test("which messages have grown is asked once, to count them and to read what they have grown by", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-recovery-"));
  const driver = openSqlite(join(folder, "grown.db"));
  await fill(driver, 4, 100);
  const grown = { id: "e1", org, cid: "c0", offset: 1, sender: "a", length: 2, folded: 0, last_offset: 5 };
  await driver.transaction(async (sql) => {
    await sql.limitTo([org]);
    await sql.rows.insert("growth", [grown]);
    const piece = { org, offset: 5, kind: "append", id: "e5", sender: "a", payload: "!hi", created_at: 1 };
    await sql.rows.insert("event", [{ ...piece, mid: midOfPiece("e1", 0) }]);
  });
  const asked: string[] = [];
  const reader: Driver = {
    ...driver,
    allOf(of, text, ...values) {
      if (text.includes("growth")) asked.push(text);
      return driver.allOf(of, text, ...values);
    },
  };
  const absence = { org, uid, head: 5, hasInboxes: false };
  const recoveryOf = (maxMessages: number) =>
    createRecovery({
      missed: createMissedEvents({ reader }),
      inboxes: createInboxReads({ reader }),
      hidings: createHiddenReads({ reader }),
      maxMessages,
      maxDays: 7,
      clock: { now: () => 1 },
    });
  for (const maxMessages of [3, Number.POSITIVE_INFINITY]) {
    asked.length = 0;
    const recovery = recoveryOf(maxMessages);
    const resumption = await recovery.resumeAfter(absence, "e2");
    if (resumption === undefined) throw new Error("it is not to be resumed");
    expect(await recovery.readGrown(absence, resumption)).toMatchObject([{ id: "e5", completes: 1 }]);
    expect(asked).toHaveLength(1);
  }
  expect(await recoveryOf(2).resumeAfter(absence, "e2")).toBeUndefined(); // two messages, and what one has grown by
  await driver.close();
  rmSync(folder, { recursive: true });
});

describe("missed messages", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-recovery-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("are delivered once each and in order, whether the user takes part in all of the conversations or in few", async () => {
    for (const mine of [100, 7, 1, 0]) {
      const driver = openSqlite(join(folder, `${mine}.db`));
      await fill(driver, 2_345, mine);
      expect((await replay(driver, 2_345)).offsets).toEqual(offsetsOf(2_345, mine));
      expect((await replay(driver, 2_000, 777)).offsets).toEqual(offsetsOf(2_000, mine, 777));
      await driver.close();
    }
  });

  test("let the event loop turn before each page, as a read of SQLite blocks it", async () => {
    const driver = openSqlite(join(folder, "turns.db"));
    await fill(driver, 1_000, 100);
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const { pages } = await replay(driver, 1_000);
    isOver = true;
    expect(pages).toBe(20);
    expect(turns).toBeGreaterThanOrEqual(pages);
    await driver.close();
  });
});

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  describe("missed messages on PostgreSQL", () => {
    test.each([5, 20, 100])(
      "cost what is sent: twice as many messages read twice as many rows, not four times",
      async (mine) => {
        const driver = connectPostgres(await postgres.createDatabase());
        await fill(driver, 20_000, mine);
        await driver.all("ANALYZE");
        const rowsRead = async () => {
          await driver.all("SELECT pg_stat_force_next_flush()");
          const [row] = await driver.all<{ rows: number }>(
            "SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables WHERE relname = 'event'",
          );
          return Number(row?.rows);
        };
        const rowsOf = async (events: number) => {
          const before = await rowsRead();
          expect((await replay(driver, events)).offsets).toHaveLength((events * mine) / 100);
          return (await rowsRead()) - before;
        };
        const [once, twice] = [await rowsOf(10_000), await rowsOf(20_000)];
        expect(twice / once).toBeLessThan(2.5);
        await driver.close();
      },
    );
  });
}
