import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../migrate.ts";
import type { NewSend } from "../ports.ts";
import type { RetentionOrder } from "../retention/ports.ts";
import type { Driver } from "../sql/driver.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";
import { createTestStore } from "./test-store.ts";

const noLimits = { requestsPerSecond: null, messagesPerSecond: null, connections: null, storedBytes: null };

/** Tests the limits and counts of organizations, `OrganizationReads.budgets`, for every engine. */
export function describeBudgets(engine: string, open: OpenDatabase): void {
  describe(`the budgets of organizations on ${engine}`, () => {
    const context = useStore(open);
    let orgs = 0;

    const nextId = () => `budget-${++orgs}`;
    const budgetOf = async (org: string) => (await context.store.organizations.budgets([org, "nowhere"]))[0];
    const storedBytesOf = async (org: string) => (await budgetOf(org))?.storedBytes;

    async function createOrganization(): Promise<string> {
      const org = nextId();
      await context.store.organizations.put(org, undefined, 1);
      await context.store.conversations.put(org, "c1", { participants: ["u1", "u2"] }, 1);
      return org;
    }

    /** The bytes of all stored events, counted one by one. */
    async function countBytes(org: string): Promise<number> {
      const events = await context.store.log.readAfter(org, 0, 10_000, Number.MAX_SAFE_INTEGER);
      const texts = events.flatMap(({ payload, uids }) => [payload, uids === undefined ? "" : JSON.stringify(uids)]);
      return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    }

    let now = 10;
    async function removeAll(change: Pick<RetentionOrder, "messagesBefore" | "deletedBefore">): Promise<void> {
      const order = {
        holder: "n1",
        leaseMs: 1,
        limit: 4,
        readsBefore: undefined,
        idsBefore: undefined,
        revocationsBefore: undefined,
        auditBefore: undefined,
        ...change,
      };
      for (let removed: number | undefined = 1; removed !== 0; now += 10)
        removed = await context.store.retention.step({ ...order, now });
    }

    const send = (org: string, change: Partial<NewSend> = {}) =>
      context.store.sends.append(messageOf(org, { id: createId(), ...change }));

    test("have limits that are null until set; omitted ones stay, and null resets one", async () => {
      const { organizations } = context.store;
      const org = nextId();
      await organizations.put(org, "Acme", 1, { connections: 5 });
      expect(await budgetOf(org)).toEqual({ id: org, limits: { ...noLimits, connections: 5 }, storedBytes: 0 });
      await organizations.put(org, undefined, 2, { requestsPerSecond: 0, storedBytes: Number.MAX_SAFE_INTEGER });
      await organizations.put(org, "Other", 3);
      expect((await budgetOf(org))?.limits).toEqual({
        requestsPerSecond: 0,
        messagesPerSecond: null,
        connections: 5,
        storedBytes: Number.MAX_SAFE_INTEGER,
      });
      await organizations.put(org, undefined, 4, { connections: null, messagesPerSecond: 7 });
      expect((await budgetOf(org))?.limits).toMatchObject({ connections: null, messagesPerSecond: 7 });
      expect(await organizations.budgets(["nowhere"])).toEqual([]);
    });

    test("count the payload and recipients of every event, and nothing twice for retries", async () => {
      const org = await createOrganization();
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
      await Promise.all(Array.from({ length: 20 }, (_, index) => send(org, { payload: `{"é":${index}}` })));
      const retried: Partial<NewSend> = { mid: "m1", fingerprint: "f", payload: '{"body":"twice"}' };
      await send(org, retried);
      await send(org, retried);
      await send(org, { kind: "system", cid: undefined, sender: "u1", uids: ["u1", "ü2"], payload: "{}" });
      expect(await countBytes(org)).toBeGreaterThan(200);
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
    });

    test("of a deleted organization are gone; created again, it is empty and keeps its limits", async () => {
      const { organizations } = context.store;
      const org = await createOrganization();
      await organizations.put(org, undefined, 2, { storedBytes: 1_000 });
      await send(org);
      await organizations.remove(org, 3);
      expect(await budgetOf(org)).toBeUndefined();
      await organizations.put(org, undefined, 4);
      expect(await budgetOf(org)).toMatchObject({ limits: { storedBytes: 1_000 }, storedBytes: await countBytes(org) });
      await context.store.users.put(org, "u1", undefined, 5);
      await send(org, { kind: "system", cid: undefined, sender: "u1", uids: ["u1"] });
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
    });

    test("shrink by what is removed: expired messages, and those of a deleted conversation", async () => {
      const org = await createOrganization();
      await context.store.conversations.put(org, "c2", { participants: ["u1"] }, 1);
      for (let at = 1_000; at < 1_010; at++) await send(org, { id: createId(at), cid: at % 2 === 0 ? "c1" : "c2" });
      await context.store.conversations.remove(org, "c2", 2_000);
      await send(org, { id: createId(5_000) });
      const before = await storedBytesOf(org);
      await removeAll({ messagesBefore: 1_005, deletedBefore: 0 });
      const between = await storedBytesOf(org);
      await removeAll({ messagesBefore: undefined, deletedBefore: 3_000 });
      expect([between, before]).toEqual([expect.any(Number), expect.any(Number)]);
      expect(between).toBeLessThan(before ?? 0);
      expect(await storedBytesOf(org)).toBeLessThan(between ?? 0);
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
    });
  });
}

/** Checks that events written by a version without counts are counted in steps while others send, each once. */
export async function expectCountsAfterVersion9(driver: Driver): Promise<void> {
  const addEvents = (from: number, to: number) =>
    driver.transaction(async (sql) => {
      await sql.limitTo(["o"]);
      for (let offset = from; offset <= to; offset++) {
        const insert = `INSERT INTO event (org, "offset", kind, id, uids, payload, created_at) VALUES ('o', ?, 'system', ?, '["ü"]', '{}', 7)`;
        await sql.run(insert, offset, `e${offset}`);
      }
      await sql.run("UPDATE organization SET head = ? WHERE id = 'o'", to);
    });
  const bytesPerEvent = 8;
  await migrateStore(driver, { to: 9 });
  await driver.transaction((sql) => sql.run("INSERT INTO organization (id, created_at) VALUES ('o', 1)"));
  await addEvents(1, 12);
  await migrateStore(driver);
  const store = createTestStore(driver);
  const count = (limit: number) => store.retention.count({ holder: "n1", leaseMs: 1, now: 10, limit });
  const storedBytes = async () => (await store.organizations.budgets(["o"]))[0]?.storedBytes;
  await store.users.put("o", "u1", undefined, 1);
  const send = () =>
    store.sends.append(messageOf("o", { kind: "system", cid: undefined, sender: "u1", uids: ["ü"], payload: "{}" }));
  expect([await count(5), await storedBytes()]).toEqual([5, 5 * bytesPerEvent]);
  await send();
  expect([await count(5), await count(5), await count(5)]).toEqual([5, 3, 0]);
  expect(await storedBytes()).toBe(13 * bytesPerEvent);
  await send();
  expect(await storedBytes()).toBe(14 * bytesPerEvent);
  await addEvents(15, 16); // written by a node of the previous version beside this one
  await send();
  expect([await count(5), await count(5), await storedBytes()]).toEqual([3, 0, 17 * bytesPerEvent]);
}
