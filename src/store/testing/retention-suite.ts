import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../migrate.ts";
import type { NewSend } from "../ports.ts";
import type { RetentionOrder } from "../retention/ports.ts";
import type { Driver } from "../sql/driver.ts";
import { entryAt } from "./audit-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";
import { createTestStore } from "./test-store.ts";

const mebibyte = 1024 * 1024;

const keepAll: RetentionOrder = {
  holder: "n1",
  leaseMs: 1,
  now: 0,
  limit: 4,
  messagesBefore: undefined,
  readsBefore: undefined,
  idsBefore: undefined,
  auditBefore: undefined,
  revocationsBefore: undefined,
  deletedBefore: 0,
};

/** Tests the port `RetentionWrites`, for every engine. */
export function describeRetention(engine: string, open: OpenDatabase): void {
  describe(`retention on ${engine}`, () => {
    const context = useStore(open);
    let now = 0;

    /** Creates an organization for this test only, with the conversation `c1` of `u1` and `u2`: one event. */
    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    /** Sends a message created at a given time. */
    async function send(org: string, at: number, change: Partial<NewSend> = {}) {
      const message = messageOf(org, { id: createId(at), createdAt: at, ...change });
      return { ...message, result: await context.store.sends.append(message) };
    }

    function step(order: Partial<RetentionOrder>): Promise<number | undefined> {
      now += 10;
      return context.store.retention.step({ ...keepAll, now, ...order });
    }

    /** Steps until nothing is left; returns how many rows each step changed. */
    async function run(order: Partial<RetentionOrder>): Promise<number[]> {
      const changed: number[] = [];
      for (;;) {
        const count = await step(order);
        if (count === undefined) throw new Error("another holder is at it");
        if (count === 0) return changed;
        changed.push(count);
      }
    }

    const eventsOf = async (org: string) =>
      (await context.store.log.readAfter(org, 0, 10_000, mebibyte)).map(({ id }) => id);
    const historyOf = async (org: string, cid = "c1") =>
      (await context.store.history.messages(org, cid, { direction: "forward", limit: 10_000, maxBytes: 2 ** 20 }))
        .length;

    test("removes messages created before a time in steps, for all organizations; the log continues after them", async () => {
      const { store } = context;
      const [one, other] = [await createOrganization(), await createOrganization()];
      for (let at = 1_000; at < 1_010; at++) await send(at % 2 === 0 ? one : other, at);
      const kept = await send(one, 2_000);
      expect(await run({ messagesBefore: 2_000 })).toEqual([4, 4, 2]);
      expect(await run({ messagesBefore: 2_000 })).toEqual([]);
      expect(await historyOf(one)).toBe(1);
      expect(await historyOf(other)).toBe(0);
      expect((await store.log.readAfter(one, 1, 100, mebibyte)).map(({ id, offset }) => [id, offset])).toEqual([
        [kept.id, 7],
      ]);
      const heads = await store.log.heads([one, other]);
      expect([one, other].map((org) => heads.get(org)?.offset)).toEqual([7, 6]);
      expect(heads.get(other)?.id).toBeString(); // though that event is gone
      expect((await send(other, 3_000)).result.outcome).toBe("stored");
      expect((await store.log.readAfter(other, 1, 100, mebibyte)).map(({ offset }) => offset)).toEqual([7]);
      expect(await store.missed.findMessage(one, kept.id)).toEqual({ offset: 7, createdAt: 2_000 });
    });

    test("forgets ids created before a time and keeps their messages: retries replay until then, and send again after it", async () => {
      const org = await createOrganization();
      const at = 10_000;
      for (let index = 0; index < 6; index++) await send(org, at + index, { mid: `m${index}`, sender: "u2" });
      await send(org, at + 500, { mid: "later", sender: "u2" });
      const outcome = async (mid: string, fingerprint = "f") =>
        (await send(org, at + 1_000, { mid, sender: "u2", fingerprint })).result.outcome;
      await run({ idsBefore: at });
      expect([await outcome("m0"), await outcome("m0", "g")]).toEqual(["replayed", "conflict"]);
      expect((await run({ idsBefore: at + 100 })).reduce((sum, count) => sum + count)).toBe(6);
      expect(await historyOf(org)).toBe(7);
      expect(await outcome("later")).toBe("replayed");
      expect(await outcome("m0", "g")).toBe("stored");
      expect([await outcome("m0"), await outcome("m0", "g")]).toEqual(["conflict", "replayed"]);
      expect(await run({ idsBefore: at + 100 })).toEqual([]);
      expect(await historyOf(org)).toBe(8);
    });

    test("removes token revocations made before a time, for all organizations, and no others", async () => {
      const { users, standing } = context.store;
      const [one, other] = [await createOrganization(), await createOrganization()];
      for (const org of [one, other]) {
        await users.put(org, "u1", undefined, 1);
        for (let at = 1_000; at < 1_003; at++) await users.revokeToken(org, "u1", `t${at}`, at);
      }
      await users.revokeToken(one, "u1", "kept", 2_000);
      expect(await run({ revocationsBefore: 2_000 })).toEqual([4, 2]);
      const isRevoked = async (org: string, jti: string) => (await standing.snapshot(org, "u1", jti))?.isRevoked;
      expect([await isRevoked(one, "kept"), await isRevoked(one, "t1000"), await isRevoked(other, "t1002")]).toEqual([
        true,
        false,
        false,
      ]);
    });

    test("removes audit entries created before a time, and no others", async () => {
      const { audit } = context.store;
      await audit.append(Array.from({ length: 6 }, (_, index) => entryAt(1_000 + index)));
      const kept = entryAt(2_000);
      await audit.append([kept]);
      expect(await run({ auditBefore: 2_000 })).toEqual([4, 2]);
      const left = await audit.read({ from: undefined, before: undefined, of: undefined, limit: 100 });
      expect(left.map(({ id }) => id)).toEqual([kept.id]);
    });

    test("removes the contents of a deleted conversation when due, and nothing of a recreated one", async () => {
      const { store } = context;
      const org = await createOrganization();
      for (let index = 0; index < 5; index++) await send(org, 20_000 + index);
      await store.conversations.put(org, "c2", { participants: ["u1"] }, 1);
      const other = await send(org, 20_100, { cid: "c2" });
      await store.conversations.remove(org, "c1", 21_000);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 21_001);
      const again = await send(org, 21_002);
      expect(await run({ deletedBefore: 21_000 })).toEqual([]);
      expect(await eventsOf(org)).toHaveLength(11);
      expect(await run({ deletedBefore: 21_001 })).toEqual([4, 2, 1]); // the last is the removal note itself
      expect(await eventsOf(org)).toHaveLength(5);
      expect(await eventsOf(org)).toEqual(expect.arrayContaining([other.id, again.id]));
      expect([await historyOf(org), await historyOf(org, "c2")]).toEqual([1, 1]);
      await store.conversations.remove(org, "c1", 22_000);
      expect(await run({ deletedBefore: 22_001 })).toEqual([3, 1]);
      expect(await eventsOf(org)).not.toContain(again.id);
    });

    test("removes the contents of a deleted organization, which are hidden at once", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sent = await send(org, 30_000, { mid: "m" });
      for (let index = 0; index < 5; index++) await send(org, 30_001);
      await store.organizations.remove(org, 31_000);
      const page = { after: undefined, limit: 10 };
      const retry = await store.sends.append({ ...messageOf(org), mid: "m" });
      expect(retry).toEqual({ outcome: "refused", missing: "organization" });
      expect([await store.users.get(org, "u1"), await store.users.list(org, page)]).toEqual([undefined, []]);
      expect([await store.conversations.get(org, "c1"), await store.conversations.list(org, page)]).toEqual([
        undefined,
        [],
      ]);
      expect([await store.participants.has(org, "c1", "u1"), await store.participants.list(org, "c1", page)]).toEqual([
        false,
        [],
      ]);
      expect(await store.standing.snapshot(org, "u1")).toBeUndefined();
      expect(await eventsOf(org)).toContain(sent.id);
      expect(await run({})).toEqual([4, 3, 2, 1, 2, 1]); // events, participants, the conversation, users, the removal note
      expect(await eventsOf(org)).toHaveLength(1); // the end of its sessions
    });

    test("finds a recreated organization empty, whatever was left of it, with continuing offsets", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sent = await send(org, 40_000, { mid: "m" });
      await store.organizations.remove(org, 41_000);
      expect((await store.organizations.put(org, "again", 42_000)).isNew).toBe(true);
      expect(await run({})).toEqual([]);
      expect([
        await store.users.list(org, { after: undefined, limit: 10 }),
        await store.conversations.get(org, "c1"),
      ]).toEqual([[], undefined]);
      expect(await eventsOf(org)).not.toContain(sent.id);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 43_000);
      expect((await send(org, 43_001, { mid: "m" })).result.outcome).toBe("stored");
      expect((await store.log.readAfter(org, 0, 10, mebibyte)).map(({ offset }) => offset)).toEqual([3, 4, 5]);
    });

    test("answers `unavailable` while much is left of an organization to be created again, and finally creates it", async () => {
      const { store } = context;
      const org = await createOrganization();
      const participants = Array.from({ length: 60_000 }, (_, index) => `u${index}`);
      await store.conversations.put(org, "large", { participants }, 1);
      await store.organizations.remove(org, 2);
      const refusal = await store.organizations.put(org, undefined, 3).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "unavailable" }); // `rejects` would wait without receiving messages from other threads
      expect(await store.organizations.get(org)).toBeUndefined();
      expect((await store.organizations.put(org, undefined, 4)).isNew).toBe(true);
      expect(await store.users.list(org, { after: undefined, limit: 10 })).toEqual([]);
    });

    test("lets one holder remove at a time, and the next once that one has not asked for a while", async () => {
      const order = { ...keepAll, leaseMs: 100 };
      const as = (holder: string, at: number) =>
        context.store.retention.step({ ...order, holder, now: 1_000_000 + at });
      const first = await Promise.all([as("n1", 0), as("n2", 0), as("n3", 0)]);
      expect(first.filter((count) => count === undefined)).toHaveLength(2);
      const holder = `n${first.findIndex((count) => count !== undefined) + 1}`;
      const other = holder === "n1" ? "n2" : "n1";
      expect([await as(other, 90), await as(holder, 90), await as(other, 150)]).toEqual([undefined, 0, undefined]);
      expect([await as(other, 191), await as(holder, 192)]).toEqual([0, undefined]);
      now = 2_000_000;
    });

    test("proceeds while messages are sent, and touches none of them", async () => {
      const { store } = context;
      const org = await createOrganization();
      const old = Array.from({ length: 300 }, (_, index) => messageOf(org, { id: createId(50_000 + index) }));
      await Promise.all(old.map((message) => store.sends.append(message)));
      let isRemoving = true;
      const removing = run({ messagesBefore: 60_000, limit: 20 }).finally(() => {
        isRemoving = false;
      });
      const sent: string[] = [];
      while (isRemoving) {
        const messages = Array.from({ length: 10 }, () => messageOf(org));
        const results = await Promise.all(messages.map((message) => store.sends.append(message)));
        expect(results.every(({ outcome }) => outcome === "stored")).toBe(true);
        sent.push(...messages.map(({ id }) => id));
      }
      expect((await removing).length).toBeGreaterThanOrEqual(15);
      expect(sent.length).toBeGreaterThanOrEqual(10);
      expect((await eventsOf(org)).slice(1)).toEqual(sent);
      const last = { offset: 1 + old.length + sent.length, id: sent.at(-1) };
      expect(await store.log.heads([org])).toEqual(new Map([[org, last]]));
    });
  });
}

/** Checks that messages of conversations deleted before there was retention are removed, and no others. */
export async function expectRemovalsAfterVersion6(driver: Driver): Promise<void> {
  await migrateStore(driver, { to: 6 });
  await driver.transaction(async (sql) => {
    await sql.limitTo(["o"]);
    await sql.run("INSERT INTO organization (id, head, created_at) VALUES ('o', 5, 1)");
    await sql.run(
      "INSERT INTO conversation (org, id, log_start, created_at, updated_at) VALUES ('o', 'again', 2, 1, 1), ('o', 'new', 0, 1, 1)",
    );
    for (const [offset, cid] of ["gone", "again", "again", "new", "gone"].entries()) {
      const insert = `INSERT INTO event (org, "offset", kind, id, cid, payload, created_at) VALUES ('o', ?, 'message', ?, ?, '{}', 7)`;
      await sql.run(insert, offset + 1, `e${offset + 1}`, cid);
    }
  });
  expect(await migrateStore(driver)).toMatchObject({ from: 6 });
  const store = createTestStore(driver);
  const left = async () => (await store.log.readAfter("o", 0, 10, mebibyte)).map(({ id }) => id);
  expect(await store.retention.step({ ...keepAll, now: 5, deletedBefore: 7 })).toBe(0);
  const counts: (number | undefined)[] = [];
  while (counts.at(-1) !== 0 && counts.length < 10) {
    counts.push(await store.retention.step({ ...keepAll, now: 10 + counts.length, deletedBefore: 8 }));
  }
  expect(counts).toEqual([1, 1, 2, 1, 0]);
  expect(await left()).toEqual(["e3", "e4"]);
}
