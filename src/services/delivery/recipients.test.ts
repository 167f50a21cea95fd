import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "../../lib/text/ids.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { migrateStore } from "../../store/migrate.ts";
import type { NewSend } from "../../store/ports.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { createTestStore } from "../../store/testing/test-store.ts";
import { createRecipients, type RecipientQuery } from "./recipients.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-recipients-"));
const driver = openSqlite(join(folder, "herald.db"));
const store = createTestStore(driver);
const recipients = createRecipients({
  ...store,
  longReads: { run: (work) => work() },
  steadyClock: systemClock,
});
const org = "o";
let paid = 0;

beforeAll(async () => {
  await migrateStore(driver);
  await store.organizations.put(org, undefined, 1);
  await store.users.put(org, "u1", undefined, 1);
});
afterAll(async () => {
  await driver.close();
  rmSync(folder, { recursive: true });
});

async function pay(cost: number): Promise<void> {
  paid += cost;
}

/** Stores an event as the log does, whatever sends it. */
async function append(change: Partial<NewSend>): Promise<string> {
  const id = createId();
  const kind = change.kind ?? "message";
  const payload = JSON.stringify({ [kind === "system" ? "system_message" : "message"]: { _id: id, from: "u1" } });
  const base = { org, kind, id, cid: undefined, sender: "u1", mid: id, fingerprint: "f", payload, keyId: "k" };
  const { outcome } = await store.sends.append({ ...base, uids: undefined, createdAt: 1, ...change });
  expect(outcome).toBe("stored");
  return id;
}

/** All uids, and the number of pages they came in. */
async function walk(id: string, query: Omit<RecipientQuery, "cursor">): Promise<{ uids: string[]; pages: number }> {
  const uids: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const { page }: Awaited<ReturnType<typeof recipients.message>> = await recipients.message(
      org,
      id,
      { ...query, cursor },
      pay,
    );
    uids.push(...page.items.map(({ uid }) => uid));
    cursor = page.cursor ?? null;
  }
  return { uids, pages };
}

describe("recipients", () => {
  test("of a system message to everyone are not listed, and the error says why", async () => {
    const id = await append({ kind: "system", uids: [] });
    const list = recipients.systemMessage(org, id, { limit: 10 }, pay);
    await expect(list).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("everyone") });
  });

  test("of a system message to a conversation are those who took part at its place in the log", async () => {
    await store.conversations.put(org, "room", { participants: ["u1", "u2"] }, 1);
    const id = await append({ kind: "system", cid: "room", uids: [] });
    await store.participants.remove(org, "room", "u2", 1);
    await store.participants.add(org, "room", "u3", 10, 1);
    const { page, sender } = await recipients.systemMessage(org, id, { limit: 10 }, pay);
    expect(page.items.map(({ uid, state }) => [uid, state])).toEqual([
      ["u1", "missing"],
      ["u2", "missing"],
    ]);
    expect(sender).toBe("u1");
  });

  test("of a system message that was taken back are listed, as they were before", async () => {
    const id = await append({ kind: "system", uids: ["u1", "u2"] });
    const before = await recipients.systemMessage(org, id, { limit: 10 }, pay);
    const recall = { org, sender: "u1", ids: [id], at: 2, keyId: "k" };
    expect(await store.systemRecalls.recall(recall)).toEqual({ outcome: "changed" });
    expect(await recipients.systemMessage(org, id, { limit: 10 }, pay)).toEqual(before);
  });

  test("of an imported message are none, as it was delivered to nobody", async () => {
    const item = { id: "old", cid: "room", sender: "u1", payload: "{}", createdAt: 1 };
    await driver.transaction(async (sql) => {
      await sql.rows.insert("event", [
        { org, offset: -5, kind: "imported", id: item.id, cid: item.cid, payload: '{"message":{}}', created_at: 1 },
      ]);
      await sql.run("UPDATE conversation SET past_start = -9 WHERE org = ? AND id = ?", org, item.cid);
    });
    const { page } = await recipients.message(org, "old", { limit: 10 }, pay);
    expect(page).toEqual({ items: [], cursor: null });
  });

  test("are found among thousands in pages that each look at a few thousand, and are paid for what they look at", async () => {
    await store.conversations.put(org, "large", { participants: ["u1"] }, 1);
    const late = Array.from({ length: 7_000 }, (_, index) => `late-${String(index).padStart(4, "0")}`);
    const id = await append({ cid: "large" });
    const joined = { org, cid: "large", created_at: 1, log_start: 99 };
    await driver.transaction((sql) =>
      sql.rows.insert(
        "participant",
        late.map((uid) => ({ ...joined, uid })),
      ),
    );
    paid = 0;
    expect(await walk(id, { limit: 10 })).toEqual({ uids: ["u1"], pages: 3 });
    expect(paid).toBeGreaterThanOrEqual(60);
    expect(await walk(id, { limit: 10, state: "missing" })).toEqual({ uids: ["u1"], pages: 3 });
    expect(await walk(id, { limit: 10, state: "delivered" })).toEqual({ uids: [], pages: 3 });
  });
});
