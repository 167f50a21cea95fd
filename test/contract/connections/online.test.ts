import { describe, expect, test } from "bun:test";
import { openSocket } from "../../harness/clients/socket.ts";
import type { OnlineUser, Page } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

const ask = <T = Page<OnlineUser>>(org: Organization, query = "") =>
  herald().admin<T>("GET", `${org.path("online")}${query}`);
const online = async (org: Organization, query = "") => (await ask(org, query)).body.items;
/** Waits until the list is this, as nothing announces that the server has noticed the end of a connection. */
const becomes = (org: Organization, users: OnlineUser[]) =>
  eventually(async () => (Bun.deepEquals(await online(org), users) ? true : undefined), JSON.stringify(users));

describe("the online users", () => {
  test("have a connection that has joined, a socket or stream, and are listed once each by id", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    expect((await ask(org)).body).toEqual({ items: [], cursor: null });
    using elsewhere = await other.socket("carol");
    using first = await org.socket("bob");
    using second = await org.sse("bob");
    using alice = await org.sse("alice");
    using silent = await openSocket(herald().url);
    await org.user("dora");
    expect((await ask(org)).body).toEqual({
      items: [
        { id: "alice", connections: 1 },
        { id: "bob", connections: 2 },
      ],
      cursor: null,
    });
    expect(await online(other)).toEqual([{ id: "carol", connections: 1 }]);
    await org.expectNothingElse(first, second, alice);
    await silent.expectSilence();
    await elsewhere.expectSilence();
  });

  test("are removed when their connection ends, in whatever way", async () => {
    const org = await createOrganization(herald());
    using closing = await org.socket("closing");
    using breaking = await org.socket("breaking");
    using stream = await org.sse("streaming");
    using _signedOut = await org.socket("signed out");
    using deleted = await org.socket("deleted");
    using staying = await org.socket("staying");
    closing.close();
    breaking.terminate();
    stream.close();
    await herald().admin("DELETE", org.path("users", "signed out", "sessions"));
    await herald().admin("DELETE", org.path("users", "deleted"));
    await deleted.closed;
    await becomes(org, [{ id: "staying", connections: 1 }]);
    await org.expectNothingElse(staying);
  });

  test("are listed in the byte order of their ids, page by page", async () => {
    const org = await createOrganization(herald());
    const uids = ["B", "a", "a b", "a,b", "b", "é", "\ue000", "😀"];
    const listeners = await Promise.all([...uids].reverse().map((uid) => org.sse(uid)));
    const expected = uids.map((id) => ({ id, connections: 1 }));
    for (const limit of [1, 3, 8, 1000])
      expect(await readList<OnlineUser>(herald(), org.path("online"), limit)).toEqual(expected);
    const first = await ask(org, "?limit=8");
    expect(first.body.cursor).toBeNull();
    for (const listener of listeners) listener.close();
  });

  test("are listed with the names of their devices if requested", async () => {
    const org = await createOrganization(herald());
    using phone = await org.socket("alice", { device_id: "phone" });
    using plain = await org.socket("alice");
    using stream = await org.sse("bob");
    const [alice, bob, carol] = await online(org, "?uids=alice,bob,carol&devices=true");
    expect({ ...alice, devices: alice?.devices?.toSorted() }).toEqual({
      id: "alice",
      connections: 2,
      devices: [null, "phone"],
    });
    expect(bob).toEqual({ id: "bob", connections: 1, devices: [null] });
    expect(carol).toEqual({ id: "carol", connections: 0, devices: [] });
    const many = Array.from({ length: 21 }, (_, index) => `u${index + 10}`);
    const told = await online(org, `?devices=true&uids=${many.join(",")}`);
    expect(told.map(({ devices }) => devices !== undefined)).toEqual(many.map((_, index) => index < 20));
    expect(await online(org, "?devices=true")).toEqual([
      { id: "alice", connections: 2 },
      { id: "bob", connections: 1 },
    ]);
    await org.expectNothingElse(phone, plain, stream);
  });

  test("are listed with when they were last seen if requested", async () => {
    const org = await createOrganization(herald());
    await org.user("dora");
    using phone = await org.socket("alice");
    const query = "?uids=alice,dora&last_seen=true";
    expect(await online(org, query)).toEqual([
      { id: "alice", connections: 1, last_seen: null },
      { id: "dora", connections: 0, last_seen: null },
    ]);
    phone.close();
    const alice = await eventually(async () => {
      const [one] = await online(org, query);
      return one?.last_seen != null ? one : undefined;
    }, "when she was last seen");
    expect(alice).toEqual({ id: "alice", connections: 0, last_seen: expect.stringMatching(ISO_MILLISECONDS) });
    using _again = await org.socket("alice");
    expect(await online(org, "?last_seen=true")).toEqual([{ ...alice, connections: 1 }]);
  });

  test("are counted, with their connections", async () => {
    const org = await createOrganization(herald());
    using _one = await org.socket("alice");
    using _two = await org.socket("alice");
    using _three = await org.sse("bob");
    expect((await ask<unknown>(org, "?count=true")).body).toEqual({ count: 2, connections: 3 });
    expect((await ask<unknown>(org, "?count=true&uids=alice,nobody")).body).toEqual({ count: 1, connections: 2 });
    expect((await ask<unknown>(org, "?count=false&limit=1")).body).toMatchObject({ items: [{ id: "alice" }] });
    const empty = await createOrganization(herald());
    expect((await ask<unknown>(empty, "?count=true")).body).toEqual({ count: 0, connections: 0 });
  });

  test("can be requested by id: one item each, even if offline or unknown", async () => {
    const org = await createOrganization(herald());
    using _alice = await org.socket("alice");
    using _bob = await org.sse("bob");
    await org.user("offline");
    const expected = [
      { id: "bob", connections: 1 },
      { id: "offline", connections: 0 },
      { id: "unknown", connections: 0 },
    ];
    expect((await ask(org, "?uids=unknown,bob,offline,bob")).body).toEqual({ items: expected, cursor: null });
    expect(await online(org, "?uids=unknown&uids=offline&uids=bob")).toEqual(expected);
    const all = await readList<OnlineUser>(herald(), org.path("online"), 2);
    expect(all).toHaveLength(2);
    const first = (await ask(org, "?uids=unknown,bob,offline&limit=2")).body;
    expect(first.items).toEqual(expected.slice(0, 2));
    const rest = await ask(org, `?uids=unknown,bob,offline&limit=2&cursor=${first.cursor}`);
    expect(rest.body).toEqual({ items: expected.slice(2), cursor: null });
  });

  test("may have ids of any characters: commas separate ids, %2C stands for one within an id", async () => {
    const org = await createOrganization(herald());
    const uids = ["a,b", "a", "b", "+ &=%", "é😀", ">*."];
    const listeners = await Promise.all(uids.map((uid) => org.sse(uid)));
    const query = `?uids=${uids.map(encodeURIComponent).join(",")}`;
    const items = await online(org, query);
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set(uids));
    expect(items.every(({ connections }) => connections === 1)).toBe(true);
    expect(await online(org, "?uids=a%2Cb")).toEqual([{ id: "a,b", connections: 1 }]);
    expect(await online(org, "?uids=a,b")).toEqual([
      { id: "a", connections: 1 },
      { id: "b", connections: 1 },
    ]);
    for (const listener of listeners) listener.close();
  });

  test("are requested with up to 1,000 ids, and with known, valid parameters only", async () => {
    const org = await createOrganization(herald());
    const ids = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`).join(",");
    expect(await readList<OnlineUser>(herald(), `${org.path("online")}`)).toEqual([]);
    expect(await online(org, `?limit=1000&uids=${ids(1000)}`)).toHaveLength(1000);
    for (const [query, pointer] of [
      [`?uids=${ids(1001)}`, "/uids"],
      ["?uids=", "/uids/0"],
      ["?uids=a,,b", "/uids/1"],
      [`?uids=${"x".repeat(129)}`, "/uids/0"],
      ["?uids=a%00", "/uids/0"],
      ["?uids=a,%FF", "/uids"],
      ["?count=yes", "/count"],
      ["?count=", "/count"],
      ["?count=true&count=true", "/count"],
      ["?offset=1", "/offset"],
    ] as const)
      expectProblem(await ask<unknown>(org, query), 422, "invalid_request", pointer);
  });
});
