import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { PresenceAnswer } from "../bus/bus.ts";
import type { Connection } from "../gateway/connections/connection.ts";
import { createRoster, type Roster } from "../gateway/connections/roster.ts";
import { answerPresence } from "../gateway/presence.ts";
import { createOwner } from "../lib/owner.ts";
import { createPresence, type Presence } from "./presence.ts";
import { createLastEnds } from "./sessions/last-ends.ts";

type Online = Awaited<ReturnType<Presence["list"]>>["items"];

const connect = (uid: string, org = "o"): Connection => ({
  id: "",
  org,
  uid,
  issuedAt: 0,
  arrival: { transport: "websocket", address: "", client: undefined, since: 0 },
  isOpen: true,
  deliver: () => undefined,
  isReadyForMore: async () => true,
  subscribe: () => undefined,
  unsubscribe: () => undefined,
  end: () => undefined,
  cut: () => undefined,
  takings: 0,
  waitingBytes: () => 0,
  owner: createOwner(() => undefined),
});

/** Presence over one roster per list of users; each occurrence of a user is a connection. */
function setUp(...nodes: string[][]) {
  const ends = createLastEnds({ clock: { now: () => 20_000 } });
  const rosters = new Map<string, Roster>();
  const stored: { seenAt?: number } = {};
  for (const [index, uids] of nodes.entries()) {
    const roster = createRoster();
    for (const uid of uids) roster.add(connect(uid));
    rosters.set(`node ${index}`, roster);
  }
  const answerSizes: number[] = [];
  const silent = new Set<string>();
  const left = new Set<string>();
  const old = new Set<string>();
  const presence = createPresence({
    organizations: { get: async (id) => (id === "o" ? { id, name: null, createdAt: 0 } : undefined) },
    users: {
      get: async (_, id) => (id === "nobody" ? undefined : { id, name: null, createdAt: 0 }),
      seenAmong: async (_, ids) =>
        new Map(stored.seenAt === undefined ? [] : ids.map((id) => [id, stored.seenAt ?? 0])),
    },
    nodes: { live: async () => [...rosters.keys()].filter((id) => !left.has(id)) },
    bus: {
      async request(question) {
        const answers = new Map<string, PresenceAnswer>();
        for (const [id, roster] of rosters) {
          if (silent.has(id)) continue;
          const text = JSON.stringify(answerPresence(roster, question, () => ({ requests: 2, messages: 1 }), ends));
          answerSizes.push(text.length);
          const { connections, ...answer } = JSON.parse(text);
          answers.set(id, old.has(id) ? answer : { ...answer, connections });
        }
        return answers;
      },
    },
  });
  return { presence, rosters, answerSizes, silent, left, old, ends, stored };
}

async function readAll(presence: Presence, limit: number, uids?: string[]): Promise<Online> {
  const items: Online = [];
  for (let cursor: string | undefined; ; ) {
    const page = await presence.list("o", { limit, cursor, uids });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    if (page.cursor === null) return items;
    expect(page.items.length).toBeGreaterThanOrEqual(Math.min(limit, 100));
    cursor = page.cursor;
  }
}

/** The expected result, computed in one step. */
function expected(nodes: string[][]): Online {
  const uids = nodes.flat();
  return [...new Set(uids)]
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    .map((id) => ({ id, connections: uids.filter((uid) => uid === id).length }));
}

const uid = fc.string({ unit: "grapheme", minLength: 1, maxLength: 2 });
const cluster = fc.array(fc.array(uid, { maxLength: 25 }), { minLength: 1, maxLength: 4 });

describe("presence", () => {
  test("lists the users connected to any node, each once and by id, in pages of any size", async () => {
    await fc.assert(
      fc.asyncProperty(cluster, fc.integer({ min: 1, max: 30 }), async (nodes, limit) => {
        const { presence } = setUp(...nodes);
        expect(await readAll(presence, limit)).toEqual(expected(nodes));
      }),
    );
  });

  test("counts users, not connections, on any number of nodes", async () => {
    await fc.assert(
      fc.asyncProperty(cluster, async (nodes) => {
        const { presence } = setUp(...nodes);
        const connections = nodes.flat().length;
        expect(await presence.count("o", undefined)).toEqual({ count: expected(nodes).length, connections });
      }),
    );
  });

  test("lists each requested user once, also across pages", async () => {
    await fc.assert(
      fc.asyncProperty(cluster, fc.array(uid), fc.integer({ min: 1, max: 9 }), async (nodes, uids, limit) => {
        const { presence } = setUp(...nodes);
        const online = new Map(expected(nodes).map(({ id, connections }) => [id, connections]));
        const told = expected([uids]).map(({ id }) => ({ id, connections: online.get(id) ?? 0 }));
        expect(await readAll(presence, limit, [...uids, ...uids])).toEqual(told);
        const present = told.filter(({ connections }) => connections > 0);
        expect(await presence.count("o", [...uids, ...uids])).toEqual({
          count: present.length,
          connections: present.reduce((sum, { connections }) => sum + connections, 0),
        });
      }),
    );
  });

  test("neither misses nor repeats users who stay while others come and go between pages", async () => {
    const staying = Array.from({ length: 40 }, (_, index) => `user ${index * 2}`);
    const { presence, rosters } = setUp(staying.slice(0, 25), staying.slice(15));
    const seen: string[] = [];
    let round = 0;
    for (let cursor: string | undefined; ; ) {
      const page = await presence.list("o", { limit: 7, cursor });
      seen.push(...page.items.map(({ id }) => id));
      if (page.cursor === null) break;
      cursor = page.cursor;
      for (const roster of rosters.values()) {
        const passer = connect(`user ${round}.5`);
        roster.add(passer);
        if (round++ % 3 === 0) roster.remove(passer);
      }
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(seen).toEqual(expect.arrayContaining(staying));
  });

  test("keeps a node's answer small, whatever the limit and the ids, and counts across all answers", async () => {
    const long = Array.from({ length: 900 }, (_, index) => `${String(index).padStart(3, "0")}${"😀".repeat(125)}`);
    const { presence, answerSizes } = setUp(long.slice(0, 700), long.slice(400));
    expect((await readAll(presence, 1000)).map(({ id }) => id)).toEqual(long);
    expect(await presence.count("o", undefined)).toEqual({ count: 900, connections: 1200 });
    expect(answerSizes.length).toBeGreaterThan(8);
    expect(Math.max(...answerSizes)).toBeLessThan(70_000);
  });

  test("follows connections that come and go, and keeps organizations apart", async () => {
    const { presence, rosters } = setUp([], []);
    const roster = rosters.get("node 1");
    const [first, second, elsewhere] = [connect("a"), connect("a"), connect("a", "p")];
    for (const connection of [first, first, second, elsewhere]) roster?.add(connection);
    expect(roster?.size()).toEqual({ organizations: 2, connections: 3 });
    expect((await presence.list("o", { limit: 1 })).items).toEqual([{ id: "a", connections: 2 }]);
    for (const connection of [first, first]) roster?.remove(connection);
    expect(await presence.count("o", undefined)).toEqual({ count: 1, connections: 1 });
    roster?.add(connect("b"));
    roster?.remove(second);
    expect((await presence.list("o", { limit: 9 })).items).toEqual([{ id: "b", connections: 1 }]);
    roster?.add(second);
    expect((await presence.list("o", { limit: 9 })).items.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(roster?.size()).toEqual({ organizations: 2, connections: 3 });
  });

  test("is unavailable rather than wrong if a node does not answer, unless that node has left", async () => {
    const { presence, silent, left } = setUp(["a"], ["b"], ["c"]);
    silent.add("node 1");
    for (const ask of [
      () => presence.list("o", { limit: 1 }),
      () => presence.count("o", undefined),
      () => presence.count("o", ["a"]),
    ])
      await expect(ask()).rejects.toMatchObject({ code: "unavailable", headers: { "Retry-After": "1" } });
    left.add("node 1");
    expect((await presence.list("o", { limit: 9 })).items.map(({ id }) => id)).toEqual(["a", "c"]);
  });

  test("leaves out nodes that are not live, though they may answer in time", async () => {
    const { presence, left } = setUp(["a"], ["b"], ["c"]);
    left.add("node 1");
    expect((await presence.list("o", { limit: 9 })).items.map(({ id }) => id)).toEqual(["a", "c"]);
    expect(await presence.count("o", undefined)).toEqual({ count: 2, connections: 2 });
    expect([...(await presence.everyone("o")).uids]).toEqual(["a", "c"]);
  });

  test("lists everyone with the version of the nodes that were listed", async () => {
    const { presence, rosters, left } = setUp(["a"], ["b"]);
    const version = await presence.versionOf("o");
    expect(await presence.everyone("o")).toEqual({ uids: new Set(["a", "b"]), version });
    left.add("node 1");
    const withoutOne = (await presence.everyone("o")).version;
    expect([withoutOne, withoutOne === version]).toEqual([await presence.versionOf("o"), false]);
    rosters.get("node 0")?.add(connect("c"));
    expect((await presence.everyone("o")).version).not.toBe(withoutOne);
  });

  test("of a user's connections is unavailable while a node of an earlier version cannot list them", async () => {
    const { presence, old } = setUp(["a", "b"], ["a"]);
    expect((await presence.connectionsOf("o", "a")).items.map(({ node }) => node)).toEqual(["node 0", "node 1"]);
    old.add("node 1");
    await expect(presence.connectionsOf("o", "a")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("node 1 runs an earlier version"),
    });
    await expect(presence.connectionsOf("o", "nobody")).rejects.toMatchObject({ code: "user_not_found" });
  });

  test("tells how the last connection of a user ended: what nodes remember, unless something newer is stored", async () => {
    const { presence, ends, stored } = setUp(["a"], []);
    const told = async () => (await presence.connectionsOf("o", "b")).last_ended;
    expect(await told()).toBeNull();
    stored.seenAt = 20_500;
    expect(await told()).toEqual({ at: new Date(20_500).toISOString() });
    ends.noteEnd({ org: "o", uid: "b" }, { code: 1006, isSlow: true });
    expect(await told()).toEqual({ at: new Date(20_000).toISOString(), code: 1006, was_slow: true });
    stored.seenAt = 60_000;
    expect(await told()).toEqual({ at: new Date(60_000).toISOString() });
  });

  test("tells which token of a user was refused last", async () => {
    const { presence, ends } = setUp([], []);
    expect((await presence.connectionsOf("o", "b")).last_refused).toBeNull();
    ends.noteRefusal({ org: "o", uid: "b" }, "expired");
    ends.noteRefusal({ org: "p", uid: "b" }, "revoked");
    expect((await presence.connectionsOf("o", "b")).last_refused).toEqual({
      at: new Date(20_000).toISOString(),
      check: "expired",
    });
  });

  test("of a missing organization is refused", async () => {
    const { presence } = setUp(["a"]);
    await expect(presence.list("p", { limit: 1 })).rejects.toMatchObject({ code: "organization_not_found" });
    await expect(presence.count("p", undefined)).rejects.toMatchObject({ code: "organization_not_found" });
  });
});
