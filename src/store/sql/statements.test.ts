import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { migrateStore } from "../migrate.ts";
import { openSqlite } from "../sqlite/sqlite.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { Driver, Transaction } from "./driver.ts";

const mebibyte = 1024 * 1024;

/** A driver that counts the statements of its transactions; a call for many rows counts once, as on PostgreSQL. */
function countStatements(driver: Driver) {
  let statements = 0;
  function counted({ all, run, dialect, rows, limitTo, lastly, forget }: Transaction): Transaction {
    const one = <Call extends (...args: never[]) => unknown>(call: Call): Call =>
      ((...args) => {
        statements++;
        return call(...args);
      }) as Call;
    return {
      all: one(all),
      run: one(run),
      dialect,
      limitTo,
      forget,
      lastly,
      rows: { find: one(rows.find), lock: one(rows.lock), insert: one(rows.insert), update: one(rows.update) },
    };
  }
  return {
    driver: { ...driver, transaction: (work) => driver.transaction((sql) => work(counted(sql))) } satisfies Driver,
    async of(work: Promise<unknown>): Promise<number> {
      const before = statements;
      await work;
      return statements - before;
    },
  };
}

describe("the number of statements depends on the number of steps, not of rows", () => {
  let folder: string;
  let count: ReturnType<typeof countStatements>;
  let store: ReturnType<typeof createTestStore>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "herald-statements-"));
    const driver = openSqlite(join(folder, "herald.db"));
    await migrateStore(driver);
    count = countStatements(driver);
    store = createTestStore(count.driver);
  });
  afterEach(async () => {
    await count.driver.close();
    rmSync(folder, { recursive: true });
  });

  /** Creates an organization whose user `u` takes part in `conversations` conversations. */
  async function createOrganization(org: string, conversations: number): Promise<void> {
    await store.organizations.put(org, undefined, 1);
    for (let index = 0; index < conversations; index++)
      await store.conversations.put(org, `c${index}`, { participants: ["u", "v"] }, 1);
  }

  test("when a deleted user leaves one conversation or as many as a step takes", async () => {
    await createOrganization("small", 1);
    await createOrganization("large", rowsOfStep);
    const once = await count.of(store.users.remove("small", "u", 2));
    expect(await count.of(store.users.remove("large", "u", 2))).toBe(once);
    expect(once).toBeLessThan(14);
    expect(await store.log.readAfter("large", rowsOfStep, 9_999, mebibyte)).toHaveLength(rowsOfStep + 1); // one departure each, and the end of sessions
    const check = await store.checks.check({
      org: "large",
      kind: "message",
      id: "x",
      cid: "c0",
      sender: "v",
      mid: undefined,
      fingerprint: "",
      payload: "",
      uids: undefined,
      createdAt: 1,
      keyId: "k",
    });
    expect(check).toMatchObject({ participants: 1 });
  });

  test("when an organization is deleted", async () => {
    await createOrganization("small", 1);
    await createOrganization("large", 300);
    const once = await count.of(store.organizations.remove("small", 2));
    expect(await count.of(store.organizations.remove("large", 2))).toBe(once);
  });

  test("when a conversation gains and loses participants", async () => {
    await createOrganization("o", 0);
    const participants = Array.from({ length: rowsOfStep }, (_, index) => `u${index}`);
    const put = (uids: string[]) => count.of(store.conversations.put("o", "c", { participants: uids }, 1));
    await put([]);
    const [one, none, many, noneAgain] = [await put(["u"]), await put([]), await put(participants), await put([])];
    expect([many, noneAgain]).toEqual([one, none]);
    const inSteps = await put(Array.from({ length: 20 * rowsOfStep }, (_, index) => `u${index}`));
    expect(inSteps).toBeLessThan(42 * one);
  });
});
