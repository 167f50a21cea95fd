import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { logStart } from "../../contract/log/log-place.ts";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../migrate.ts";
import type { NewSend } from "../ports.ts";
import type { Driver } from "../sql/driver.ts";
import { createStore, type Database } from "../store.ts";
import { createTestStore } from "./test-store.ts";

const mebibyte = 1024 * 1024;

/** Opens an empty database with an up-to-date schema for a suite. `announce` is called for every commit. */
export type OpenDatabase = (
  announce: (events: LogEvent[]) => void,
) => Promise<Pick<Database, "reader" | "writes" | "overlap" | "close">>;

/** Opens a store on a new database, and collects the events it announces. */
export async function openStore(open: OpenDatabase) {
  const announced: LogEvent[] = [];
  const announce = (events: LogEvent[]) => void announced.push(...events);
  const database = await open(announce);
  return {
    announced,
    overlap: database.overlap,
    store: createStore({ ...database, announce }),
    /** The API key that an event was sent with, which no port reads yet. */
    async keyIdOf(org: string, id: string): Promise<string | null | undefined> {
      const find = "SELECT key_id FROM event WHERE org = ? AND id = ?";
      const [row] = await database.reader.allOf<{ key_id: string | null }>(org, find, org, id);
      return row?.key_id;
    },
    /** The bytes of an organization's events as they are stored. */
    async bytesOf(org: string): Promise<number> {
      const find =
        "SELECT SUM(OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0)) AS bytes FROM event WHERE org = ?";
      const [row] = await database.reader.allOf<{ bytes: number }>(org, find, org);
      return Number(row?.bytes);
    },
    dispose: database.close,
  };
}

/** Opens such a store for the tests of a `describe`, and closes it after them. */
export function useStore(open: OpenDatabase) {
  let opened: Awaited<ReturnType<typeof openStore>> | undefined;
  let orgs = 0;

  beforeAll(async () => {
    opened = await openStore(open);
  });
  afterAll(async () => {
    await opened?.dispose();
  });

  function current() {
    if (opened === undefined) throw new Error("the store is there while tests run");
    return opened;
  }

  return {
    get store() {
      return current().store;
    },
    get announced() {
      return current().announced;
    },
    get overlap() {
      return current().overlap;
    },
    keyIdOf: (org: string, id: string) => current().keyIdOf(org, id),
    bytesOf: (org: string) => current().bytesOf(org),
    /** Creates an organization for one test only; with participants, also their conversation `c1`: one event. */
    async createOrganization(participants?: string[]): Promise<string> {
      const org = `org-${++orgs}`;
      const { organizations, conversations } = current().store;
      await organizations.put(org, undefined, 1);
      if (participants !== undefined) await conversations.put(org, "c1", { participants }, 1);
      return org;
    },
  };
}

let count = 0;

/** A message of `u1` to `c1`, not yet stored. */
export function messageOf(org: string, change: Partial<NewSend> = {}): NewSend {
  const id = createId();
  const base = { org, kind: "message", id, cid: "c1", sender: "u1", mid: `m${++count}`, fingerprint: "f" } as const;
  return {
    ...base,
    payload: JSON.stringify({ message: { _id: id } }),
    uids: undefined,
    createdAt: 1_000,
    keyId: "k",
    ...change,
  };
}

/** Tests the ports `SendLog` and `LogReader`, for every engine. */
export function describeLog(engine: string, open: OpenDatabase): void {
  describe(`the log on ${engine}`, () => {
    const context = useStore(open);

    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    test("gives offsets without gaps in the order of appends, and announces events after the commit", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      announced.length = 0;
      const sends = Array.from({ length: 300 }, () => messageOf(org));
      const results = await Promise.all(sends.map((send) => store.sends.append(send)));
      expect(results.every(({ outcome }) => outcome === "stored")).toBe(true);
      expect(announced.map(({ id }) => id)).toEqual(sends.map(({ id }) => id));
      expect(announced.map(({ offset }) => offset)).toEqual(sends.map((_, index) => index + 2)); // 1 is the membership event
      expect(await store.log.heads([org, "nobody"])).toEqual(new Map([[org, { offset: 301, id: sends.at(-1)?.id }]]));
    });

    test("reads back what it announced, page by page", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      announced.length = 0;
      const system = messageOf(org, { kind: "system", cid: undefined, uids: ["u2", "zoë"] });
      await Promise.all([messageOf(org), system, messageOf(org)].map((send) => store.sends.append(send)));
      const stored = announced.map(({ prev: _, ...event }) => event);
      expect(await store.log.readAfter(org, 1, 100, mebibyte)).toEqual(stored);
      expect(await store.log.readAfter(org, 1, 2, mebibyte)).toEqual(stored.slice(0, 2));
      expect(await store.log.readAfter(org, 4, 100, mebibyte)).toEqual([]);
    });

    test("ends a page early if its events are large, but never before the first", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sizes = [1, mebibyte, 3 * mebibyte, 1, 5 * mebibyte, 1];
      for (const size of sizes)
        await store.sends.append({ ...messageOf(org), payload: JSON.stringify("é".repeat(size / 2)) });
      const pages: number[][] = [];
      for (let last = 1; ; last = pages.at(-1)?.at(-1) ?? 0) {
        const page = await store.log.readAfter(org, last, 100, 4 * mebibyte);
        if (page.length === 0) break;
        pages.push(page.map(({ offset }) => offset));
      }
      expect(pages).toEqual([[2, 3, 4], [5, 6], [7]]);
      const upTo = async (maxBytes: number) =>
        (await store.log.readAfter(org, 2, 100, maxBytes)).map(({ offset }) => offset);
      expect(await upTo(1)).toEqual([3]);
      expect(await upTo(2 * mebibyte)).toEqual([3, 4]);
    });

    test("stores one of many equal sends, in one batch or later, and answers all of them alike", async () => {
      const { store } = context;
      const org = await createOrganization();
      const append = () => store.sends.append(messageOf(org, { mid: "same" }));
      const results = await Promise.all(Array.from({ length: 50 }, append));
      results.push(await append());
      expect(results.filter(({ outcome }) => outcome === "stored")).toHaveLength(1);
      expect(new Set(results.map((result) => ("id" in result ? result.id : undefined))).size).toBe(1);
      expect((await store.log.heads([org])).get(org)?.offset).toBe(2);
    });

    test("names each event's predecessor, and the last event at the head: sends, membership and sign-outs, even in one batch", async () => {
      const { store, announced } = context;
      announced.length = 0;
      const org = await createOrganization();
      const other = await createOrganization();
      const both = Array.from({ length: 20 }, (_, index) => messageOf(index % 3 === 0 ? other : org));
      await Promise.all(both.map((send) => store.sends.append(send)));
      await store.participants.add(org, "c1", "u3", 100, 1);
      await store.users.endSessions(org, "u3", 1);
      await store.sends.append(messageOf(org));
      for (const [one, count] of [
        [org, 17], // the conversation, 13 messages, a new participant, a sign-out, one more message
        [other, 8],
      ] as const) {
        const events = announced.filter((event) => event.org === one);
        expect(events).toHaveLength(count);
        expect(events.map(({ prev }) => prev)).toEqual(["", ...events.slice(0, -1).map(({ id }) => id)]);
        const { offset, id } = events.at(-1) ?? {};
        expect(await store.log.heads([one])).toEqual(new Map([[one, { offset: offset ?? 0, id }]]));
        expect(await store.standing.snapshot(one, "u1")).toMatchObject({ head: offset ?? 0, headId: id });
      }
    });

    test("reads the id at a place, the events after it and the head in one snapshot", async () => {
      const { store, announced } = context;
      announced.length = 0;
      const org = await createOrganization();
      await Promise.all(Array.from({ length: 4 }, () => store.sends.append(messageOf(org))));
      const stored = announced.map(({ prev: _, ...event }) => event);
      const head = { offset: 5, id: stored[4]?.id };
      expect(await store.log.readFrom(org, 3, 100)).toEqual({ head, anchor: stored[2]?.id, events: stored.slice(3) });
      expect(await store.log.readFrom(org, 2, 1)).toEqual({ head, anchor: stored[1]?.id, events: stored.slice(2, 3) });
      expect(await store.log.readFrom(org, 5, 100)).toEqual({ head, anchor: stored[4]?.id, events: [] });
      expect(await store.log.readFrom(org, 5, 0)).toEqual({ head, anchor: stored[4]?.id, events: [] });
      expect(await store.log.readFrom(org, 9, 100)).toEqual({ head, anchor: undefined, events: [] });
      expect(await store.log.readFrom(org, 0, 100)).toEqual({ head, anchor: undefined, events: stored });
      expect(await store.log.readFrom("nobody", 7, 100)).toEqual({ head: logStart, anchor: undefined, events: [] });
    });

    test("refuses an id that was used for another payload, in one batch or later", async () => {
      const { store } = context;
      const org = await createOrganization();
      const results = await Promise.all(
        ["f1", "f2"].map((fingerprint) => store.sends.append(messageOf(org, { mid: "x", fingerprint }))),
      );
      results.push(await store.sends.append(messageOf(org, { mid: "x", fingerprint: "f3" })));
      expect(results.map(({ outcome }) => outcome)).toEqual(["stored", "conflict", "conflict"]);
    });

    test("knows an id by organization, kind and sender, and stores every send without one", async () => {
      const { store } = context;
      const org = await createOrganization();
      const other = await createOrganization();
      const sends = [
        messageOf(org, { mid: "x" }),
        messageOf(other, { mid: "x", fingerprint: "g" }),
        messageOf(org, { mid: "x", sender: "u2", fingerprint: "h" }),
        messageOf(org, { mid: "x", kind: "system", cid: undefined, uids: ["u1"], fingerprint: "i" }),
        messageOf(org, { mid: undefined }),
        messageOf(org, { mid: undefined }),
      ];
      const results = await Promise.all(sends.map((send) => store.sends.append(send)));
      expect(results.map(({ outcome }) => outcome)).toEqual(sends.map(() => "stored"));
    });

    test("says what a send is missing, and stores the rest of the batch", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sends = [
        messageOf("nowhere"),
        messageOf(org, { cid: "c9" }),
        messageOf(org),
        messageOf(org, { sender: "u9" }),
        messageOf(org, { kind: "system", cid: undefined, sender: "u9", uids: ["u1"] }),
      ];
      const results = await Promise.all(sends.map((send) => store.sends.append(send)));
      expect(results.map((result) => (result.outcome === "refused" ? result.missing : result.outcome))).toEqual([
        "organization",
        "conversation",
        "stored",
        "participant",
        "user",
      ]);
    });

    test("answers a retry as before even if the sender has left since", async () => {
      const { store } = context;
      const org = await createOrganization();
      const send = messageOf(org, { mid: "x" });
      const first = await store.sends.append(send);
      await store.participants.remove(org, "c1", "u1", 2);
      const again = await store.sends.append(messageOf(org, { mid: "x" }));
      const { id, createdAt } = send;
      expect(first).toMatchObject({ outcome: "stored", id, createdAt });
      expect(again).toEqual({ outcome: "replayed", id, createdAt });
    });

    test("lets a row that the database refuses fail alone", async () => {
      const { store } = context;
      const org = await createOrganization();
      const taken = messageOf(org);
      await store.sends.append(taken);
      const sends = [messageOf(org), messageOf(org, { id: taken.id }), messageOf(org)];
      const results = await Promise.all(sends.map((send) => store.sends.append(send)));
      expect(results.map(({ outcome }) => outcome)).toEqual(["stored", "failed", "stored"]);
      expect((await store.log.readAfter(org, 0, 100, mebibyte)).map(({ offset }) => offset)).toEqual([1, 2, 3, 4]);
    });

    test("takes no more sends of one organization than it can hold, says to retry, and still takes another's", async () => {
      const { store, overlap } = context;
      const underWay = overlap !== undefined && "from" in overlap ? overlap.depth * overlap.from : 0; // these have left the queue
      const org = await createOrganization();
      const sends = Array.from({ length: underWay + 16_001 }, () =>
        store.sends.append(messageOf("nowhere", { cid: org })),
      );
      const another = store.sends.append(messageOf(org));
      const rejected = (await Promise.allSettled(sends)).filter((result) => result.status === "rejected");
      expect((await another).outcome).toBe("stored");
      expect(rejected).toHaveLength(1);
      expect(rejected[0]?.reason).toBeInstanceOf(HeraldError);
      expect(rejected[0]?.reason.code).toBe("unavailable");
    });
  });
}

/**
 * Checks heads written by a version that does not record ids, before migration 9 and beside newer nodes: the id is
 * looked up in the log while the event exists, and the next event does not claim to know its predecessor.
 */
export async function expectHeadsAfterVersion8(driver: Driver): Promise<void> {
  await migrateStore(driver, { to: 8 });
  const writeAsBefore = async (offset: number): Promise<string> => {
    const id = createId();
    await driver.transaction(async (sql) => {
      await sql.limitTo(["o"]);
      const insert = `INSERT INTO event (org, "offset", kind, id, payload, created_at) VALUES ('o', ?, 'message', ?, '{}', 1)`;
      await sql.run(insert, offset, id);
      await sql.run("UPDATE organization SET head = ? WHERE id = 'o'", offset);
    });
    return id;
  };
  await driver.transaction((sql) => sql.run("INSERT INTO organization (id, created_at) VALUES ('o', 1)"));
  const first = await writeAsBefore(1);
  await migrateStore(driver);

  const announced: LogEvent[] = [];
  const announce = (events: LogEvent[]) => void announced.push(...events);
  const { log, standing, conversations } = createTestStore(driver, announce);
  const headIs = async (offset: number, id: string | undefined) => {
    expect(await log.heads(["o"])).toEqual(new Map([["o", { offset, id }]]));
    expect(await standing.snapshot("o", "u")).toMatchObject({ head: offset, headId: id });
    expect(await log.readFrom("o", offset, 10)).toMatchObject({ head: { offset, id }, events: [] });
  };
  await headIs(1, first);
  await conversations.put("o", "c", { participants: ["u"] }, 1);
  await headIs(2, announced[0]?.id);
  const third = await writeAsBefore(3);
  await headIs(3, third);
  await conversations.put("o", "d", { participants: ["u"] }, 1);
  await conversations.put("o", "e", { participants: ["u"] }, 1);
  expect(announced.map(({ offset, prev }) => [offset, prev])).toEqual([
    [2, undefined],
    [4, undefined],
    [5, announced[1]?.id],
  ]);
  const sixth = await writeAsBefore(6);
  await driver.transaction(async (sql) => {
    await sql.limitTo(["o"]);
    await sql.run(`DELETE FROM event WHERE "offset" <> 6`);
  });
  const last = { offset: 6, id: sixth };
  expect(await log.readFrom("o", 3, 10)).toMatchObject({ head: last, anchor: undefined, events: [{ id: sixth }] });
  await driver.transaction(async (sql) => {
    await sql.limitTo(["o"]);
    await sql.run("DELETE FROM event");
  });
  await headIs(6, undefined);
}

/** Checks that an event of a kind from a later version keeps its place and blocks nothing. */
export async function expectUnknownKinds(driver: Driver): Promise<void> {
  await migrateStore(driver);
  const { log, conversations } = createTestStore(driver);
  await driver.transaction(async (sql) => {
    await sql.limitTo(["o"]);
    await sql.run("INSERT INTO organization (id, created_at, head) VALUES ('o', 1, 1)");
    await sql.run(
      `INSERT INTO event (org, "offset", kind, id, payload, created_at) VALUES ('o', 1, 'later', 'e1', '{"later":1}', 1)`,
    );
  });
  await conversations.put("o", "c", { participants: ["u"] }, 1);
  const { events } = await log.readFrom("o", 0, 10);
  expect(events.map(({ offset, kind }) => [offset, kind])).toEqual([
    [1, "unknown"],
    [2, "membership"],
  ]);
}
