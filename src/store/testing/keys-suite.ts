import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import type { KeyReads, NewKey, StoredKey } from "../keys/ports.ts";
import { migrateStore } from "../migrate.ts";
import type { KeyProof } from "../ports.ts";
import type { Driver } from "../sql/driver.ts";
import { messageOf, type OpenDatabase, openStore } from "./log-suite.ts";
import { createTestStore, createTestWrites } from "./test-store.ts";

const mebibyte = 1024 * 1024;

/** A key with all scopes, not yet stored. */
function keyOf(change: Partial<NewKey> = {}): NewKey {
  return {
    id: createId(),
    name: "a key",
    scopes: ["*"],
    org: null,
    senders: null,
    networks: null,
    digest: "first",
    pepper: "p",
    expiresAt: null,
    createdAt: 5,
    ...change,
  };
}

async function versionOf({ latest }: Pick<KeyReads, "latest">): Promise<number> {
  return (await latest())?.version ?? 0;
}

function storedOf({ digest, pepper, ...key }: NewKey): StoredKey {
  return { ...key, secrets: [{ digest, expiresAt: null }], lastUsedAt: null };
}

/** Tests the port `ApiKeys`, for every engine. */
export function describeKeys(engine: string, open: OpenDatabase): void {
  describe(`API keys on ${engine}`, () => {
    let context: Awaited<ReturnType<typeof openStore>>;

    beforeAll(async () => {
      context = await openStore(open);
    });
    afterAll(async () => {
      await context.dispose();
    });

    async function create(change: Partial<NewKey> = {}): Promise<NewKey> {
      const key = keyOf(change);
      expect(await context.store.keys.create(key)).toBe(true);
      return key;
    }

    test("of a deleted organization are revoked in steps, however many there are", async () => {
      const { keys, organizations } = context.store;
      await organizations.put("many", undefined, 1);
      const count = 2 * rowsOfStep + 5;
      await Promise.all(Array.from({ length: count }, () => create({ org: "many" })));
      const before = await versionOf(keys);
      await organizations.remove("many", 2);
      const revoked = await keys.changes(before, []);
      expect(revoked.filter(({ key }) => key === undefined)).toHaveLength(count);
      const ofVersion = Map.groupBy(revoked, ({ version }) => version);
      expect([...ofVersion.values()].map(({ length }) => length).sort()).toEqual([rowsOfStep, rowsOfStep, 5].sort());
      expect(await keys.list({ org: "many", after: undefined, limit: 10 })).toEqual([]);
    });

    test("are read as written, restricted or not", async () => {
      const { keys, organizations } = context.store;
      await organizations.put("o", undefined, 1);
      const free = await create();
      const bound = await create({
        name: "Ünï 🔑",
        scopes: ["message:send", "history:read"],
        org: "o",
        senders: ["a b", "é"],
        networks: ["10.0.0.0/8", "2001:db8::/32"],
        expiresAt: 4_102_444_800_000,
      });
      expect(await keys.get(free.id)).toEqual(storedOf(free));
      expect(await keys.get(bound.id)).toEqual(storedOf(bound));
      expect(await keys.get("nobody's")).toBeUndefined();
    });

    test("of a missing organization are not created", async () => {
      const key = keyOf({ org: "nowhere" });
      expect(await context.store.keys.create(key)).toBe(false);
      expect(await context.store.keys.get(key.id)).toBeUndefined();
    });

    test("are listed by id, for one organization if given, without revoked ones", async () => {
      const { keys, organizations } = context.store;
      await organizations.put("listed", undefined, 1);
      const made: string[] = [];
      for (let index = 0; index < 5; index++) made.push((await create({ org: "listed" })).id);
      const other = await create();
      expect(await keys.revoke(made[1] ?? "", 9)).toBe(true);
      const expected = made.filter((_, index) => index !== 1);
      const ids = async (page: { after?: string; org?: string; limit?: number }) =>
        (await keys.list({ after: undefined, org: undefined, limit: 100, ...page })).map(({ id }) => id);
      expect(await ids({ org: "listed" })).toEqual(expected);
      expect(await ids({ org: "listed", after: expected[0] ?? "", limit: 2 })).toEqual(expected.slice(1, 3));
      expect(await ids({})).toEqual(expect.arrayContaining([...expected, other.id]));
      expect(await ids({})).not.toContain(made[1]);
    });

    test("report the changes after a version, and keys requested by id", async () => {
      const { keys } = context.store;
      const before = await create();
      const since = await versionOf(keys);
      expect(await keys.changes(since, [])).toEqual([]);
      const made = await create();
      const gone = await create();
      await keys.revoke(gone.id, 9);
      const changes = await keys.changes(since, [before.id, made.id, "nobody's"]);
      expect(new Map(changes.map(({ id, key }) => [id, key]))).toEqual(
        new Map([
          [before.id, storedOf(before)],
          [made.id, storedOf(made)],
          [gone.id, undefined],
        ]),
      );
      expect(Math.max(...changes.map(({ version }) => version))).toBe(await versionOf(keys));
      expect(await keys.changes(await versionOf(keys), [gone.id])).toMatchObject([{ id: gone.id, key: undefined }]);
    });

    test("get versions in the order of their commits, even if many change at once", async () => {
      const { keys } = context.store;
      const since = await versionOf(keys);
      await Promise.all(Array.from({ length: 20 }, () => create()));
      const versions = (await keys.changes(since, [])).map(({ version }) => version);
      expect(versions.sort((left, right) => left - right)).toEqual(
        Array.from({ length: 20 }, (_, index) => since + index + 1),
      );
    });

    test("keep old secrets for the time they were given, and never longer", async () => {
      const { keys } = context.store;
      const { id } = await create();
      const rotate = async (digest: string, othersEndAt: number, now: number) =>
        (await keys.rotate(id, { digest, pepper: "p", othersEndAt, keep: 3, now }))?.secrets.map(
          ({ digest, expiresAt }) => [digest, expiresAt],
        );
      expect(await rotate("second", 100, 10)).toEqual([
        ["second", null],
        ["first", 100],
      ]);
      expect(await rotate("third", 200, 20)).toEqual([
        ["third", null],
        ["second", 200],
        ["first", 100],
      ]);
      expect(await rotate("fourth", 300, 30)).toEqual([
        ["fourth", null],
        ["third", 300],
        ["second", 200],
      ]);
      expect(await rotate("fifth", 250, 210)).toEqual([
        ["fifth", null],
        ["fourth", 250],
        ["third", 250],
      ]);
      expect(await rotate("sixth", 220, 220)).toEqual([["sixth", null]]);
      expect((await keys.get(id))?.secrets).toEqual([{ digest: "sixth", expiresAt: null }]);
      expect(
        await keys.rotate("nobody's", { digest: "d", pepper: "p", othersEndAt: 1, keep: 3, now: 1 }),
      ).toBeUndefined();
    });

    test("are revoked for good", async () => {
      const { keys } = context.store;
      const { id } = await create();
      expect(await keys.revoke(id, 9)).toBe(true);
      expect(await keys.revoke(id, 10)).toBe(false);
      expect(await keys.get(id)).toBeUndefined();
      expect(await keys.rotate(id, { digest: "d", pepper: "p", othersEndAt: 1, keep: 3, now: 1 })).toBeUndefined();
    });

    test("record when they were used, which is not a change and never goes back", async () => {
      const { keys } = context.store;
      const used = await create();
      const unused = await create();
      const version = await versionOf(keys);
      await keys.markUsed([used.id, "nobody's"], 500);
      await keys.markUsed([used.id], 400);
      expect((await keys.get(used.id))?.lastUsedAt).toBe(500);
      expect((await keys.get(unused.id))?.lastUsedAt).toBeNull();
      expect(await versionOf(keys)).toBe(version);
    });

    test("are revoked with their organization, even if it is created again", async () => {
      const { keys, organizations } = context.store;
      await organizations.put("going", undefined, 1);
      const bound = await create({ org: "going" });
      const free = await create();
      const since = await versionOf(keys);
      await organizations.remove("going", 2);
      await organizations.put("going", undefined, 3);
      expect(await keys.get(bound.id)).toBeUndefined();
      expect(await keys.get(free.id)).toBeDefined();
      expect((await keys.changes(since, [])).map(({ id }) => id)).toEqual([bound.id]);
    });

    test("count those made with another pepper, until they are rotated", async () => {
      const { keys } = context.store;
      const before = await keys.countOfOtherPepper("p");
      const { id } = await create({ pepper: "other" });
      expect(await keys.countOfOtherPepper("p")).toBe(before + 1);
      await keys.rotate(id, { digest: "d", pepper: "p", othersEndAt: 1, keep: 3, now: 1 });
      expect(await keys.countOfOtherPepper("p")).toBe(before);
    });

    test("prove a call only while they are valid", async () => {
      const { keys, organizations } = context.store;
      await organizations.put("proving", undefined, 1);
      const { id } = await create({ org: "proving", expiresAt: 100 });
      const proof = { id, org: "proving", digest: "first", now: 50 };
      const isProven = async (change: Partial<KeyProof> = {}) => {
        const by = { ...proof, ...change };
        const made = keyOf({ org: "proving" });
        const outcome = await keys.create(made, by).catch((error: unknown) => error);
        if (typeof outcome !== "boolean") expect(outcome).toMatchObject({ code: "unauthorized" });
        expect((await keys.get(made.id)) !== undefined).toBe(outcome === true);
        expect(await keys.isValid(by)).toBe(outcome === true);
        return outcome === true;
      };
      expect(await isProven()).toBe(true);
      expect(await isProven({ now: 100 })).toBe(false);
      expect(await isProven({ digest: "another" })).toBe(false);
      expect(await isProven({ org: "o" })).toBe(false);
      expect(await isProven({ org: null })).toBe(false);
      expect(await isProven({ id: "nobody's" })).toBe(false);
      await keys.rotate(id, { digest: "second", pepper: "p", othersEndAt: 60, keep: 3, now: 50 }, proof);
      expect([await isProven({ now: 59 }), await isProven({ now: 60 }), await isProven({ digest: "second" })]).toEqual([
        true,
        false,
        true,
      ]);
      const other = await create({ org: "proving", digest: "second" });
      await keys.revoke(other.id, 9);
      expect(await isProven({ id: other.id, digest: "second" })).toBe(false);
      await organizations.remove("proving", 2);
      expect(await isProven({ digest: "second" })).toBe(false);
      await organizations.put("proving", undefined, 3);
      expect(await isProven({ digest: "second" })).toBe(false);
    });

    test("that are no longer valid import nothing more", async () => {
      const { keys, organizations, imports, users } = context.store;
      await organizations.put("importing", undefined, 1);
      const { id } = await create({ org: "importing" });
      const by = { id, org: "importing", digest: "first", now: 50 };
      const add = (uid: string) =>
        imports.add({
          org: "importing",
          items: [{ kind: "user", id: uid, name: undefined, isBlocked: undefined }],
          maxParticipants: 1,
          hasRoom: true,
          keyId: id,
          by,
          now: 50,
        });
      expect(await add("before")).toMatchObject({ written: 1 });
      await keys.revoke(id, 9);
      expect(await add("after").catch((error: unknown) => error)).toMatchObject({ code: "unauthorized" });
      expect([(await users.get("importing", "before"))?.id, await users.get("importing", "after")]).toEqual([
        "before",
        undefined,
      ]);
    });

    test("are recorded with the events they sent, which never show them", async () => {
      const { store, announced } = context;
      await store.organizations.put("sent", undefined, 1);
      await store.conversations.put("sent", "c1", { participants: ["u1"] }, 1);
      const send = messageOf("sent", { keyId: "key of the sender" });
      await store.sends.append(send);
      expect(await context.keyIdOf("sent", send.id)).toBe("key of the sender");
      expect(JSON.stringify(announced)).not.toContain("key of the sender");
      expect(JSON.stringify(await store.log.readAfter("sent", 0, 10, mebibyte))).not.toContain("key of the sender");
    });
  });
}

/** Checks that a database from before API keys keeps its contents and accepts keys. */
export async function expectKeysAfterVersion1(driver: Driver): Promise<void> {
  expect(await migrateStore(driver, { to: 1 })).toEqual({ from: 0, to: 1 });
  await driver.transaction(async (sql) => {
    await sql.run("INSERT INTO organization (id, head, created_at) VALUES ('o', 1, 1)");
    await sql.run(
      `INSERT INTO event (org, "offset", kind, id, payload, created_at) VALUES ('o', 1, 'message', 'old', '{}', 1)`,
    );
  });
  expect(await migrateStore(driver)).toMatchObject({ from: 1 });
  const store = createTestStore(driver);
  expect(await store.log.readAfter("o", 0, 10, mebibyte)).toMatchObject([{ id: "old", payload: "{}" }]);
  expect((await driver.allOf<{ key_id: string | null }>("o", "SELECT key_id FROM event"))[0]?.key_id).toBeNull();
  expect([await store.keys.latest(), await store.keys.changes(0, [])]).toEqual([undefined, []]);
  expect(await store.keys.create(keyOf({ org: "o" }))).toBe(true);
  expect((await store.keys.latest())?.version).toBe(1);
}

/** Checks that keys left by an interrupted deletion of their organization are revoked before it is created again. */
export async function expectKeysOfDeletedOrganization(driver: Driver): Promise<void> {
  await migrateStore(driver);
  const writes = createTestWrites(driver);
  const { keys } = createTestStore(driver);
  await writes.organizations.put("o", undefined, 1);
  const count = rowsOfStep + 5;
  await Promise.all(Array.from({ length: count }, () => writes.keys.create(keyOf({ org: "o" }))));
  let transactions = 0;
  const lost: Driver["transaction"] = (work, turn) =>
    ++transactions === 1 ? driver.transaction(work, turn) : Promise.reject(new Error("the database is lost"));
  const broken = createTestWrites({ ...driver, transaction: lost });
  const [outcome] = await Promise.allSettled([broken.organizations.remove("o", 2)]);
  expect(outcome.status).toBe("rejected");
  expect(await keys.list({ org: "o", after: undefined, limit: 10 })).toHaveLength(5);
  expect(await writes.organizations.put("o", undefined, 3)).toMatchObject({ isNew: true });
  expect(await keys.list({ org: "o", after: undefined, limit: 10 })).toEqual([]);
}
