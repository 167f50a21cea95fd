import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeliveryReads } from "../delivery/delivery.ts";
import { createNewestEvents } from "../delivery/newest-events.ts";
import { createStanding } from "../directory/participants.ts";
import { createFeedReader } from "../log/feed-reader.ts";
import { createLogReader } from "../log/log-reader.ts";
import { createExpiryReads } from "../messages/expiry.ts";
import { createHistory, createMissedEvents } from "../messages/history.ts";
import { createSentReads } from "../messages/sent.ts";
import { migrateStore } from "../migrate.ts";
import { createReadMarkReads } from "../reads/read-marks.ts";
import { createTestWrites } from "../testing/test-store.ts";
import { openSqlite } from "./sqlite.ts";

const mebibyte = 1024 * 1024;

function openInFolder() {
  const folder = mkdtempSync(join(tmpdir(), "herald-store-"));
  const file = join(folder, "herald.db");
  return { file, driver: openSqlite(file), remove: () => rmSync(folder, { recursive: true }) };
}

describe("SQLite", () => {
  test("finds events by the matching index, and never scans a whole log", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const history = createHistory({ reader: driver });
    const missed = createMissedEvents({ reader: driver });
    const sent = createSentReads({ reader: driver });
    await driver.transaction(async ({ rows }) => {
      await rows.insert("organization", [{ id: "r", head: 9, created_at: 1 }]);
      await rows.insert("conversation", [{ org: "r", id: "c", log_start: 1, created_at: 1, updated_at: 1 }]);
      await rows.insert("participant", [{ org: "r", cid: "c", uid: "u", created_at: 1, log_start: 1 }]);
    });
    const readMarks = createReadMarkReads({ reader: driver });
    const read = { org: "r", cid: "c", uid: "u" };
    const query = spyOn(Database.prototype, "query");
    const page = { limit: 20, after: 1, before: 9, maxBytes: mebibyte };
    const byOffset = "USING INDEX sqlite_autoindex_event_1 (org=? AND offset=?)"; // for each row of the page
    const byConversation = "USING INDEX event_in_conversation (org=? AND cid=? AND offset>? AND offset<?)";
    const endOfConversation = "USING COVERING INDEX event_in_conversation (org=? AND cid=? AND offset>?)"; // backwards, up to the first match
    const byId = "USING INDEX event_by_id (id=?)";
    const reads: [expected: string, read: () => Promise<unknown>, ...others: string[]][] = [
      [byConversation, () => history.messages("o", "c", { ...page, direction: "forward" }), byOffset],
      [byConversation, () => history.messages("o", "c", { ...page, direction: "backward" }), byOffset],
      [byConversation, () => history.messages("o", "c", { ...page, direction: "forward" }, "u"), byOffset],
      [byConversation, () => history.messages("o", "c", { ...page, direction: "backward" }, "u"), byOffset],
      [byId, () => history.offsetOf("o", "c", "id")],
      [byId, () => history.places("o", "c", ["id", "another"], "u")],
      [endOfConversation, () => history.lastPlaces("o", ["c", "d"], "u"), byOffset],
      [byOffset, () => history.messagesAt("o", [1, 2]), byOffset, byOffset, byOffset, byOffset],
      [byConversation, () => history.offsetAfter("r", "c", 1)],
      [byConversation, () => missed.countMissed("o", "u", 1, 9, 20)],
      [byConversation, () => missed.readMissed("o", "u", 1, 9, 20, mebibyte), byOffset],
      [byId, () => missed.findMessage("o", "id")],
      [byId, () => sent.message("o", "id")],
      [byId, () => readMarks.scopeOf({ ...read, ids: ["id", "another"] })],
      [byConversation, () => readMarks.scopeOf({ ...read, ids: undefined })],
      [
        endOfConversation,
        () => createStanding({ reader: driver }).conversations("o", "u", { after: undefined, limit: 20 }),
        endOfConversation, // for users who have hidden something
      ],
      ["USING INDEX event_by_mid (mid=?)", () => sent.systemMessages("o", "mid", undefined)],
      [
        "USING INDEX event_by_mid (mid=? AND sender=? AND org=? AND kind=?)",
        () => sent.systemMessages("o", "mid", "u"),
      ],
      [
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset>? AND offset<?)",
        () => createLogReader({ reader: driver }).readAfter("o", 1, 20, mebibyte),
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset>?)",
      ],
      [
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset>? AND offset<?)",
        () => createFeedReader({ reader: driver }).readShown("o", 1, 20, mebibyte),
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset>?)",
      ],
      [
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset>?)",
        () => createLogReader({ reader: driver }).readFrom("o", 1, 20),
        "USING INDEX sqlite_autoindex_event_1 (org=? AND offset=?)", // only if the head's id is not recorded
      ],
    ];
    for (const [expected, read, ...others] of reads) {
      query.mockClear();
      await read();
      const text = query.mock.calls.map(([one]) => one).findLast((one) => /\bevent\b/.test(one));
      const steps = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all();
      expect(steps.flatMap(({ detail }) => /^(?:SEARCH|SCAN) (?:event|e) (.*)/.exec(detail)?.[1] ?? [])).toEqual([
        expected,
        ...others,
      ]);
    }
    query.mockRestore();
    database.close();
    await driver.close();
    remove();
  });

  test("looks into one index for what a user has hidden, and once for a user who has hidden nothing", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const history = createHistory({ reader: driver });
    const missed = createMissedEvents({ reader: driver });
    const query = spyOn(Database.prototype, "query");
    const page = { limit: 20, maxBytes: mebibyte, direction: "backward" } as const;
    const once = "SEARCH hidden_message USING COVERING INDEX sqlite_autoindex_hidden_message_1 (org=? AND uid=?)";
    const each = expect.stringMatching(/^SEARCH h USING COVERING INDEX \w+ \(.*offset=\?.*\)$/);
    for (const read of [
      () => history.messages("o", "c", page, "u"),
      () => history.places("o", "c", ["id"], "u"),
      () => history.lastPlaces("o", ["c", "d"], "u"),
      () => missed.countMissed("o", "u", 1, 9, 20),
      () => missed.readMissed("o", "u", 1, 9, 20, mebibyte),
      () => missed.findGrown("o", "u", 1),
      () => createStanding({ reader: driver }).conversations("o", "u", { after: undefined, limit: 20 }),
    ]) {
      query.mockClear();
      await read();
      const text = query.mock.calls.map(([one]) => one).find((one) => one.includes("hidden_message"));
      const plan = database
        .prepare<{ id: number; parent: number; detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
        .all();
      const looks = plan.map(({ detail }) => detail).filter((detail) => detail.includes("hidden_message"));
      expect(looks).toEqual([once, each]);
      const parent = plan.find(({ detail }) => detail === once)?.parent;
      const { detail: how } = plan.find(({ id }) => id === parent) ?? { detail: "" };
      expect(how).toStartWith("SCALAR SUBQUERY"); // the other, in each row, is a correlated one
    }
    await history.messages("o", "c", page);
    expect(query.mock.lastCall?.[0]).not.toContain("hidden_message");
    query.mockRestore();
    database.close();
    await driver.close();
    remove();
  });

  test("finds what expires by its own index, which has nothing else", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const expiry = { ...createExpiryReads({ reader: driver }), ...createTestWrites(driver).expiry };
    await createTestWrites(driver).organizations.put("o", undefined, 1);
    const query = spyOn(Database.prototype, "query");
    await expiry.next();
    await expiry.dueOrganizations(1, 10);
    await expiry.endSome("o", 1);
    const texts = query.mock.calls.map(([text]) => text).filter((text) => text.includes("kind <> 'edit'"));
    query.mockRestore();
    const plans = texts.map((text) => database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all());
    const reads = plans.map((steps) =>
      steps.flatMap(({ detail }) => /^(?:SEARCH|SCAN) event (.*)/.exec(detail)?.[1] ?? []),
    );
    expect(reads).toEqual([
      ["USING INDEX event_expiry (expires_at>?)"],
      ["USING INDEX event_expiry (expires_at>? AND expires_at<?)"],
      ["USING INDEX event_expiry (expires_at>? AND expires_at<?)"],
    ]);
    database.close();
    await driver.close();
    remove();
  });

  test("finds what was addressed to a user by indexes alone, and the rows of it by their places", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    await createTestWrites(driver).organizations.put("o", undefined, 1);
    await createTestWrites(driver).conversations.put("o", "c", { participants: ["u"] }, 1);
    const query = spyOn(Database.prototype, "query");
    await createNewestEvents({ reader: driver }).newestFor("o", "u", { before: 9, limit: 20 });
    const texts = query.mock.calls.map(([text]) => text).filter((text) => /event|addressee /.test(text));
    query.mockRestore();
    const details = [...new Set(texts)].flatMap((text) =>
      database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all(),
    );
    const reads = details.flatMap(({ detail }) => /^(?:SEARCH|SCAN) (?:e|event|addressee) .*/.exec(detail)?.[0] ?? []);
    expect(reads.sort()).toEqual([
      "SEARCH addressee USING COVERING INDEX sqlite_autoindex_addressee_1 (org=? AND place=? AND offset<?)",
      "SEARCH addressee USING COVERING INDEX sqlite_autoindex_addressee_1 (org=? AND place=? AND offset>? AND offset<?)",
      "SEARCH e USING COVERING INDEX event_in_conversation (org=? AND cid=? AND offset>? AND offset<?)",
      "SEARCH event USING INDEX event_addressed (org=? AND offset>? AND offset<?)",
    ]);
    database.close();
    await driver.close();
    remove();
  });

  test("finds gathered receipts by their own index, and never reads the receipts of all messages nearby", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const query = spyOn(Database.prototype, "query");
    await createDeliveryReads({ reader: driver }).of("o", "c", 1);
    const texts = query.mock.calls.map(([text]) => text).filter((text) => text.includes("connections = 0"));
    query.mockRestore();
    expect(texts).toHaveLength(1);
    const steps = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${texts[0]}`).all();
    expect(steps.map(({ detail }) => detail)).toEqual([
      "SEARCH delivery USING INDEX delivery_gathered (org=? AND cid=? AND offset>? AND offset<?)",
    ]);
    database.close();
    await driver.close();
    remove();
  });

  test("finds the bytes of files to remove by their own index, and never looks at those that are kept", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const { files } = createTestWrites(driver);
    const query = spyOn(Database.prototype, "query");
    const planOf = async (read: Promise<unknown>, table: string) => {
      await read;
      const text = query.mock.calls
        .map(([one]) => one)
        .findLast((one) => one.split(/\s+/).join(" ").includes(`FROM ${table} WHERE`));
      return database
        .prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => detail);
    };
    expect(await planOf(files.unwanted(1, 100), "file_bytes")).toEqual([
      "SCAN file_bytes USING INDEX file_bytes_to_remove",
    ]);
    expect(await planOf(files.expire(1, 100), "file")).toEqual([
      "SEARCH file USING COVERING INDEX file_unnamed (keep_until<?)",
    ]);
    query.mockRestore();
    database.close();
    await driver.close();
    remove();
  });

  // Else it looks at each value of `kind`, as the partial indexes event_read and delivery_gathered have it in their conditions.
  test("hides the values that rows are found by from its planner, so that no statement is prepared anew", async () => {
    const { driver, remove } = openInFolder();
    await migrateStore(driver);
    const query = spyOn(Database.prototype, "query");
    await driver.transaction(async ({ rows }) => {
      await rows.find("event", ["id"], [{ kind: "message", mid: "m" }]);
      await rows.update("delivery", ["kind"], [{ kind: "receipt", connections: 1 }]);
    });
    expect(query.mock.calls.map(([text]) => text)).toEqual([
      'SELECT "id" FROM "event" WHERE "kind" = +? AND "mid" = +?',
      'UPDATE "delivery" SET "connections" = ? WHERE "kind" = +?',
    ]);
    query.mockRestore();
    await driver.close();
    remove();
  });

  test("counts the users of an organization in an index, without reading their rows", async () => {
    const { file, driver, remove } = openInFolder();
    await migrateStore(driver);
    const database = new Database(file, { readonly: true });
    const query = spyOn(Database.prototype, "query");
    await createSentReads({ reader: driver }).countUsersAt("o", 9);
    const steps = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${query.mock.lastCall?.[0]}`).all();
    expect(steps.map(({ detail }) => detail)).toEqual([
      "SEARCH user USING COVERING INDEX user_by_place (org=? AND log_start<?)",
    ]);
    query.mockRestore();
    database.close();
    await driver.close();
    remove();
  });
});
