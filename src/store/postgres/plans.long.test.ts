import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { eventually } from "../../../test/harness/deadline.ts";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { midOfPiece } from "../../contract/messages/append.ts";
import { createId } from "../../lib/text/ids.ts";
import { createNewestEvents } from "../delivery/newest-events.ts";
import { createUserDeliveryReads } from "../delivery/user-deliveries.ts";
import { createConversationReads } from "../directory/conversations.ts";
import { createUserReads } from "../directory/users.ts";
import { createHistory } from "../messages/history.ts";
import { findPieces, piecesOf } from "../messages/pieces.ts";
import { countUnread } from "../reads/unread.ts";
import { postgresDialect } from "../sql/dialect.ts";
import type { Driver } from "../sql/driver.ts";
import { createUnreachedReads } from "../webhooks/unreached-reads.ts";
import { connectPostgres, openPostgres } from "./postgres.ts";

setDefaultTimeout(60_000);

/** How many rows of a table were looked at one after another so far, and not by an index. */
const countReadInOrder = (driver: Driver, table: string) => countRead(driver, "seq_tup_read", table);

/** How many rows of a table were looked at by an index so far. */
const countReadByIndex = (driver: Driver, table: string) => countRead(driver, "idx_tup_fetch", table);

async function countRead(driver: Driver, how: "seq_tup_read" | "idx_tup_fetch", table: string): Promise<number> {
  const tell = "SELECT pg_stat_force_next_flush()"; // what this connection did
  await Promise.all([driver.transaction((sql) => sql.all(tell)), driver.all(tell)]);
  const count = `SELECT CAST(${how} AS int) AS rows FROM pg_stat_user_tables WHERE relname = ?`;
  const [row] = await driver.all<{ rows: number }>(count, table);
  return row?.rows ?? 0;
}

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  describe("the plans of PostgreSQL", () => {
    test("finds rows by their keys in a table that has grown since it was small enough to be read as a whole", async () => {
      const driver = connectPostgres(await postgres.createDatabase());
      await driver.transaction((sql) => sql.run("CREATE TABLE t (id TEXT PRIMARY KEY, v TEXT)"));
      const find = (...ids: string[]) =>
        driver.transaction((sql) =>
          sql.rows.find(
            "t",
            ["v"],
            ids.map((id) => ({ id })),
          ),
        );
      const many = Array.from({ length: 100 }, (_, index) => `${index}`);
      const read = (id: string) =>
        driver.all("SELECT t.v FROM (SELECT CAST(? AS text) AS id) AS given JOIN t USING (id)", id);
      const askOften = async () => {
        for (let round = 0; round < 10; round++) await Promise.all([find(`${round}`), find(...many), read(`${round}`)]);
      };
      await askOften(); // so often that the plans are kept
      const rows = Array.from({ length: 20_000 }, (_, index) => ({ id: `${index}`, v: "x".repeat(500) }));
      await driver.transaction((sql) => sql.rows.insert("t", rows));
      const before = await countReadInOrder(driver, "t");
      await askOften();
      expect(await countReadInOrder(driver, "t")).toBe(before);
      await driver.close();
    });

    test("finds rows by their keys in a table whose index could as well be read as a whole", async () => {
      const url = await postgres.createDatabase();
      const driver = connectPostgres(url);
      await driver.transaction((sql) => sql.run("CREATE TABLE t (org TEXT, id TEXT, v TEXT, PRIMARY KEY (org, id))"));
      const rows = Array.from({ length: 1_000 }, (_, index) => ({ org: "o", id: `${index}`, v: "x" }));
      await driver.transaction((sql) => sql.rows.insert("t", rows));
      await using superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
      await superuser.unsafe("ANALYZE");
      const before = await countReadByIndex(driver, "t");
      for (let round = 0; round < 10; round++)
        await driver.transaction(async (sql) => {
          await sql.rows.find("t", ["v"], [{ org: "o", id: `${round}` }]);
          await sql.rows.lock("t", ["v"], [{ org: "o", id: `${round}` }]);
          await sql.rows.update("t", ["org", "id"], [{ org: "o", id: `${round}`, v: "y" }]);
        });
      expect((await countReadByIndex(driver, "t")) - before).toBeLessThan(100);
      await driver.close();
    });

    test("finds sends and pieces by their ids in a log that has grown since the plans were made, all of it by one sender", async () => {
      const url = await postgres.createDatabase();
      const { writes, close } = await openPostgres(url, () => undefined);
      const driver = connectPostgres(url);
      await writes.organizations.put("o", "o", 1);
      const ids = Array.from({ length: 100 }, () => createId());
      const mids = ids.flatMap((id) => Array.from({ length: 30 }, (_, offset) => midOfPiece(id, offset)));
      const place = { org: "o", kind: "append", sender: "agent" };
      const findSends = (some: string[]) =>
        driver.transaction(async (sql) => {
          await sql.limitTo(["o"]);
          const keys = some.map((mid) => ({ ...place, mid }));
          expect(await sql.rows.find("event", ["id"], keys)).toHaveLength(stored);
        });
      let stored = 0;
      const findEnd = async (id: string) => {
        const values = piecesOf({ id, ...place }, 28);
        expect(await driver.allOf("o", findPieces(postgresDialect), ...values)).toHaveLength(2);
      };
      for (let round = 0; round < 10; round++) await findSends(mids.slice(0, 20)); // so often that its plan is kept
      await driver.transaction(async (sql) => {
        await sql.limitTo(["o"]);
        const piece = { ...place, cid: null, payload: ".x", created_at: 1 };
        const events = mids.map((mid, index) => ({ ...piece, offset: index + 1, id: `e${index}`, mid }));
        await sql.rows.insert("event", events);
      });
      const readSoFar = async () =>
        (await countReadInOrder(driver, "event")) + (await countReadByIndex(driver, "event"));
      const before = await readSoFar();
      stored = 20;
      for (const id of ids) await Promise.all([findSends(mids.slice(0, 20)), findEnd(id)]);
      expect((await readSoFar()) - before).toBe(22 * ids.length);
      await Promise.all([driver.close(), close()]);
    });

    test("finds the last messages of conversations by an index, in a table that it could as well read", async () => {
      const url = await postgres.createDatabase();
      const { writes, close } = await openPostgres(url, () => undefined);
      const driver = connectPostgres(url);
      await writes.organizations.put("o", "o", 1);
      await driver.transaction(async (sql) => {
        await sql.limitTo(["o"]);
        await sql.rows.insert("conversation", [{ org: "o", id: "c", log_start: 0, created_at: 1, updated_at: 1 }]);
        const event = { org: "o", kind: "message", cid: "c", sender: "u", payload: "{}", created_at: 1 };
        const events = Array.from({ length: 1_500 }, (_, index) => ({
          ...event,
          offset: index + 1,
          id: `e${index + 1}`,
        }));
        await sql.rows.insert("event", events);
      });
      const superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
      await superuser.unsafe("ANALYZE");
      const history = createHistory({ reader: driver });
      const before = await countReadInOrder(driver, "event");
      for (let round = 0; round < 10; round++) {
        expect(await history.lastPlaces("o", ["c", "none"], "u")).toEqual([{ cid: "c", offset: 1_500, bytes: 2 }]);
        expect((await history.messagesAt("o", [1, 1_500, 9_000])).map(({ offset }) => offset)).toEqual([1_500, 1]);
      }
      expect(await countReadInOrder(driver, "event")).toBe(before);
      await Promise.all([superuser.close(), driver.close(), close()]);
    });

    test("finds what was addressed to a user by indexes, however long the log is", async () => {
      const url = await postgres.createDatabase();
      const { writes, close } = await openPostgres(url, () => undefined);
      const driver = connectPostgres(url);
      await writes.organizations.put("o", "o", 1);
      const length = 40_000;
      await driver.transaction(async (sql) => {
        await sql.limitTo(["o"]);
        const created = { org: "o", log_start: 0, created_at: 1 };
        await sql.rows.insert("conversation", [{ ...created, id: "c", updated_at: 1 }]);
        await sql.rows.insert("participant", [{ ...created, cid: "c", uid: "u" }]);
        const event = { org: "o", sender: "u", payload: "{}", created_at: 1 };
        const events = Array.from({ length }, (_, index) => ({
          ...event,
          ...(index % 2 === 0
            ? { kind: "message", cid: "c", uids: null }
            : { kind: "system", cid: null, uids: '["v"]' }),
          offset: index + 1,
          id: `e${index + 1}`,
        }));
        await sql.rows.insert("event", events);
        await sql.rows.insert("addressees", [{ org: "o", up_to: length, users: 0 }]);
        const delivery = { org: "o", kind: "delivery", connections: 1, audience: null, uids: '["u"]' };
        const deliveries = events.map(({ cid, offset }) => {
          const span = { offset, first_offset: offset, plays: `[${offset},1,[[0,0]]]` };
          return { ...delivery, ...span, cid: cid ?? "", id: `d${offset}` };
        });
        await sql.rows.insert("delivery", deliveries);
      });
      const superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
      await superuser.unsafe("VACUUM ANALYZE");
      const deliveries = { ...createNewestEvents({ reader: driver }), ...createUserDeliveryReads({ reader: driver }) };
      const { fates } = createUnreachedReads({ reader: driver });
      const reported = {
        org: "o",
        cid: "c",
        kind: "message",
        address: "conversation",
        bytes: 2,
        recipients: 1,
      } as const;
      const readSoFar = async () => {
        const counts = ["event", "delivery"].map(
          async (table) => (await countReadInOrder(driver, table)) + (await countReadByIndex(driver, table)),
        );
        return (await Promise.all(counts)).reduce((sum, count) => sum + count);
      };
      const before = await readSoFar();
      const rounds = 10;
      for (let round = 0; round < rounds; round++) {
        const { offsets } = await deliveries.newestFor("o", "u", { before: length - round, limit: 100 });
        expect(offsets).toHaveLength(100);
        const events = await deliveries.addressedAt("o", "u", offsets);
        expect(events).toHaveLength(100);
        expect((await deliveries.deliveredAt("o", "u", events)).size).toBe(100);
        const [message] = events.filter(({ kind }) => kind === "message");
        const { eventId: id = "", offset = 0 } = message ?? {};
        const { delivered } = (await fates([{ ...reported, id, offset }])).get(id) ?? {};
        expect(delivered).toEqual(new Set(["u"]));
      }
      expect((await readSoFar()) - before).toBeLessThan(rounds * 2_000);
      await Promise.all([superuser.close(), driver.close(), close()]);
    });

    test("counts what is unread in an index, without reading rows", async () => {
      const url = await postgres.createDatabase();
      const { close } = await openPostgres(url, () => undefined);
      await using superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
      await superuser.unsafe(`INSERT INTO event (org, "offset", kind, id, cid, sender, payload, created_at, silent)
        SELECT 'o', number, 'message', 'e' || number, 'c' || number % 50, 'u', '{}', 1, CASE WHEN number % 3 = 0 THEN 1 END
        FROM generate_series(1, 5000) AS number`);
      await superuser.unsafe("VACUUM ANALYZE event");
      const user = { org: "'o'", uid: "'v'" };
      const count = `SELECT ${countUnread({ ...user, cid: "'c7'", after: "4000", now: postgresDialect.now }, user)} AS unread`;
      const [row] = await superuser.unsafe<{ unread: string }[]>(count);
      expect(Number(row?.unread)).toBe(14); // of 20, every third is silent
      const plan = await superuser.unsafe<Record<"QUERY PLAN", string>[]>(`EXPLAIN ${count}`);
      const reads = plan.flatMap((step) => /(\w[\w ]* Scan .*) on event\b/.exec(step["QUERY PLAN"])?.[1] ?? []);
      const inIndex = "Index Only Scan Backward using event_in_conversation";
      expect(reads).toEqual([inIndex, inIndex]); // the first one only for users who have hidden something
      await close();
    });

    // The policy's condition comes first, unless the others may be asked before it: those of indexes may, `lower` may not.
    test.each(["user", "conversation"])(
      "finds a %s by the beginning of ids and names by their indexes, whatever else there is",
      async (table) => {
        const url = await postgres.createDatabase();
        const { writes, close } = await openPostgres(url, () => undefined);
        for (const org of ["o", "other"]) await writes.organizations.put(org, org, 1);
        await close();
        const superuser = new SQL(postgres.asSuperuser(url), { max: 1 });
        const times = table === "user" ? ["created_at"] : ["log_start", "created_at", "updated_at"];
        await superuser.unsafe(`INSERT INTO "${table}" (org, id, name, ${times.join(", ")})
        SELECT org, 'id ' || number, 'name ' || number, ${times.map(() => "1").join(", ")}
        FROM generate_series(1, 5000) AS number, unnest(ARRAY['o', 'other']) AS org`);
        await superuser.unsafe("ANALYZE");
        await superuser.close();

        const counting = connectPostgres(url);
        const count = async () => [await countReadInOrder(counting, table), await countReadByIndex(counting, table)];
        const [inOrder = 0, byIndex = 0] = await count();
        const driver = connectPostgres(url);
        const { find } =
          table === "user" ? createUserReads({ reader: driver }) : createConversationReads({ reader: driver });
        const rounds = 20; // so often that the plans are kept
        for (let round = 0; round < rounds; round++) {
          for (const prefix of ["ID 4321", "NAME 4321", "none"]) {
            const { entities } = await find("o", { prefix, after: undefined, limit: 10 });
            expect(entities.map(({ id }) => id)).toEqual(prefix === "none" ? [] : ["id 4321"]);
          }
        }
        await driver.close(); // its connections tell what they read when they end
        const [inOrderAfter, byIndexAfter = 0] = await eventually(async () => {
          const counts = await count();
          return (counts[1] ?? 0) > byIndex ? counts : undefined;
        }, "the counts of what was read");
        expect(inOrderAfter).toBe(inOrder);
        expect(byIndexAfter - byIndex).toBeLessThan(rounds * 100);
        await counting.close();
      },
    );
  });
}
