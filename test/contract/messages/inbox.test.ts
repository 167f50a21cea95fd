import { describe, expect, test } from "bun:test";
import type { InboxItem, Page } from "../../harness/clients/wire.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

async function withUsers(): Promise<Organization> {
  const org = await createOrganization(herald());
  for (const uid of ["backend", "alice", "bob"]) await org.user(uid);
  return org;
}

const keep = (org: Organization, message: Record<string, unknown>) =>
  org.sentSystem("backend", { keep_days: 30, uids: ["bob"], ...message });
const page = (org: Organization, uid: string, query = "") =>
  herald().admin<Page<InboxItem>>("GET", `${org.path("users", uid, "system-messages")}${query}`);
const idsIn = (items: readonly { _id: string }[] = []) => items.map(({ _id }) => _id);
const idsOf = async (org: Organization, uid: string, query = "") => idsIn((await page(org, uid, query)).body.items);
const countOf = async (org: Organization, uid: string) => {
  const { socket, response } = await org.connect(uid);
  socket[Symbol.dispose]();
  return response.unread_system_messages_count;
};

describe("a system message with `keep_days`", () => {
  test("is heard with the time and key, and stays in the inboxes of its recipients", async () => {
    const org = await withUsers();
    using bob = await org.socket("bob");
    await keep(org, { id: "paid", key: "order-1", x: { amount: 12 } });
    const { system_message: heard } = await bob.next();
    expect(heard).toEqual({
      _id: "paid",
      t: expect.any(Number),
      from: "backend",
      x: { amount: 12 },
      created_at: expect.stringMatching(ISO_MILLISECONDS),
      key: "order-1",
    } as typeof heard);
    const item = { ...heard, seen_at: null, read_at: null };
    const listed = await bob.request("system_message_list", {});
    expect(listed.system_messages).toEqual([item as InboxItem]);
    expect((await page(org, "bob")).body).toEqual({ items: [item as InboxItem], cursor: null });
    expect(await idsOf(org, "alice")).toEqual([]);
    expect(await idsOf(org, "backend")).toEqual([]);
  });

  test("without it, nothing changes: no time, no inbox, no count", async () => {
    const org = await withUsers();
    using bob = await org.socket("bob");
    await org.sentSystem("backend", { id: "gone", uids: ["bob"] });
    expect(Object.keys((await bob.next()).system_message ?? {})).toEqual(["_id", "t", "from", "x"]);
    expect(await idsOf(org, "bob")).toEqual([]);
    const { response } = await org.connect("bob");
    expect(response).not.toHaveProperty("unread_system_messages_count");
  });

  test("to a conversation or to everyone is in the inboxes of those who were there at its place in the log", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "alice", "bob"]);
    const other = await org.conversation(["backend", "alice"]);
    await keep(org, { id: "room", uids: undefined, cid });
    await keep(org, { id: "elsewhere", uids: undefined, cid: other });
    await keep(org, { id: "all", uids: undefined, everyone: true });
    await org.leave(cid, "bob");
    await keep(org, { id: "after leaving", uids: undefined, cid });
    await org.user("carol");
    await org.join(cid, "carol");
    await keep(org, { id: "for carol, too", uids: undefined, everyone: true });
    await keep(org, { id: "named before it was a user", uids: ["dave", "bob"] });
    await org.user("dave");
    expect(await idsOf(org, "bob")).toEqual(["named before it was a user", "for carol, too", "all", "room"]);
    expect(await idsOf(org, "alice")).toEqual(["for carol, too", "after leaving", "all", "elsewhere", "room"]);
    expect(await idsOf(org, "carol")).toEqual(["for carol, too"]);
    expect(await idsOf(org, "dave")).toEqual([]);
  });

  test("pages over a socket by the `_id`, and by key with a cursor", async () => {
    const org = await withUsers();
    for (let index = 0; index < 7; index++) await keep(org, { id: `m${index}` });
    using bob = await org.socket("bob");
    const list = async (query: object) => idsIn((await bob.request("system_message_list", query)).system_messages);
    expect(await list({ limit: 3 })).toEqual(["m6", "m5", "m4"]);
    expect(await list({ limit: 3, before: "m4" })).toEqual(["m3", "m2", "m1"]);
    expect(await list({ limit: 3, before: "m1" })).toEqual(["m0"]);
    expect((await bob.request("system_message_list", { before: "nothing" })).error?.code).toBe("message_not_found");
    const first = await page(org, "bob", "?limit=4");
    expect(idsIn(first.body.items)).toEqual(["m6", "m5", "m4", "m3"]);
    expect(await idsOf(org, "bob", `?limit=4&cursor=${first.body.cursor}`)).toEqual(["m2", "m1", "m0"]);
  });

  test("ends a page early that holds much, so that no page cuts its connection", async () => {
    const org = await withUsers();
    const x = { text: "x".repeat(30_000) };
    for (let index = 0; index < 40; index++) await keep(org, { id: `m${index}`, x });
    const first = await page(org, "bob");
    expect(first.body.items.length).toBeGreaterThan(10);
    expect(first.body.items.length).toBeLessThan(20);
    let all = idsIn(first.body.items);
    for (let cursor = first.body.cursor; cursor !== null; ) {
      const next = await page(org, "bob", `?cursor=${cursor}`);
      all = [...all, ...idsIn(next.body.items)];
      cursor = next.body.cursor;
    }
    expect(all).toEqual(Array.from({ length: 40 }, (_, index) => `m${39 - index}`));
  });

  test("is replaced by the next one of its sender with the same key, whoever each went to", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "bob"]);
    await keep(org, { id: "first", key: "k", uids: ["alice", "bob"] });
    await keep(org, { id: "other key", key: "k2" });
    await org.sentSystem("alice", { id: "other sender", key: "k", keep_days: 1, uids: ["bob"] });
    await keep(org, { id: "room", key: "k", uids: undefined, cid });
    expect(await idsOf(org, "bob")).toEqual(["room", "other sender", "other key"]);
    expect(await idsOf(org, "alice")).toEqual(["first"]);
    expect(await countOf(org, "bob")).toBe(3);
    await keep(org, { id: "all", key: "k", uids: undefined, everyone: true });
    expect(await idsOf(org, "bob")).toEqual(["all", "other sender", "other key"]);
    expect(await idsOf(org, "alice")).toEqual(["all"]);
    expect(await countOf(org, "bob")).toBe(3);
  });

  test("that is silent is listed, and counts as unread nowhere, also where it replaces another", async () => {
    const org = await withUsers();
    await keep(org, { id: "quiet", silent: true });
    expect((await page(org, "bob")).body.items).toMatchObject([{ _id: "quiet", silent: true }]);
    expect(await countOf(org, "bob")).toBe(0);
    await keep(org, { id: "loud", key: "k" });
    expect(await countOf(org, "bob")).toBe(1);
    await keep(org, { id: "quieter", key: "k", silent: true });
    expect(await countOf(org, "bob")).toBe(0);
    expect(await idsOf(org, "bob", "?unread=true")).toEqual(["quieter", "quiet"]);
  });

  test("is refused with days out of range, a key without days, and conflicts with the same id without it", async () => {
    const org = await withUsers();
    const refused = async (message: object, pointer: string) => {
      const answer = await org.sendSystem("backend", { uids: ["bob"], ...message });
      expectProblem(answer, 422, "invalid_request");
      expect(answer.text).toContain(`"pointer":"/messageSystem/${pointer}"`);
    };
    for (const keep_days of [0, 366, 1.5, "7"]) await refused({ keep_days }, "keep_days");
    await refused({ key: "k" }, "key");
    await refused({ key: "", keep_days: 1 }, "key");
    await keep(org, { id: "s-1" });
    expect((await org.sendSystem("backend", { id: "s-1", uids: ["bob"], keep_days: 30 })).status).toBe(201);
    for (const other of [{}, { keep_days: 31 }, { keep_days: 30, key: "k" }])
      expectProblem(
        await org.sendSystem("backend", { id: "s-1", uids: ["bob"], ...other }),
        409,
        "message_id_conflict",
      );
    expect(await idsOf(org, "bob")).toEqual(["s-1"]);
  });
});

describe("marks of an inbox", () => {
  test("are told to the user's connections, shown in lists, and counted at `connect`", async () => {
    const org = await withUsers();
    for (const id of ["a", "b", "c"]) await keep(org, { id, uids: ["alice", "bob"] });
    expect(await countOf(org, "bob")).toBe(3);
    using first = await org.socket("bob");
    using second = await org.sse("bob");
    using alice = await org.socket("alice");
    expect((await first.request("system_message_read", { seen: true })).success).toBe(true);
    const told = { ids: ["c", "b", "a"], seen: true, t: expect.any(Number) };
    for (const tab of [first, second]) expect(await tab.next()).toEqual({ system_message_read: told });
    expect(await countOf(org, "bob")).toBe(3);
    await first.request("system_message_read", { ids: ["b", "nothing"] });
    for (const tab of [first, second])
      expect((await tab.next()).system_message_read).toMatchObject({ ids: ["b"], seen: false });
    expect(await countOf(org, "bob")).toBe(2);
    const { system_messages: items = [] } = await first.request("system_message_list", {});
    expect(items.map(({ _id, seen_at, read_at }) => [_id, seen_at !== null, read_at !== null])).toEqual([
      ["c", true, false],
      ["b", true, true],
      ["a", true, false],
    ]);
    expect(items[0]?.seen_at).toMatch(ISO_MILLISECONDS);
    expect(await idsOf(org, "bob", "?unread=true")).toEqual(["c", "a"]);
    expect(idsIn((await first.request("system_message_list", { unread: true })).system_messages)).toEqual(["c", "a"]);
    await first.request("system_message_read", {});
    for (const tab of [first, second])
      expect((await tab.next()).system_message_read).toMatchObject({ ids: ["c", "a"], seen: false });
    expect(await countOf(org, "bob")).toBe(0);
    expect(await countOf(org, "alice")).toBe(3);
    expect(await idsOf(org, "bob", "?unread=true")).toEqual([]);
    await org.expectNothingElse(first, second, alice);
  });

  test("again change nothing, keep their times, and nobody hears them", async () => {
    const org = await withUsers();
    await keep(org, { id: "a" });
    using bob = await org.socket("bob");
    await bob.request("system_message_read", { ids: ["a"] });
    await bob.next();
    const before = (await page(org, "bob")).body;
    for (const again of [{ ids: ["a"] }, {}, { seen: true }, { ids: ["nothing"] }])
      expect((await bob.request("system_message_read", again)).success).toBe(true);
    expect((await page(org, "bob")).body).toEqual(before);
    await org.expectNothingElse(bob);
    await keep(org, { id: "b" });
    await bob.next(({ system_message: heard }) => heard?._id === "b", "the next one");
    expect(await countOf(org, "bob")).toBe(1);
  });
});

describe("`since`", () => {
  test("replays kept system messages and their recalls between messages, in the order of the log", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "bob"]);
    const { server_mid: since } = await org.sent("backend", { cid, body: "seen" });
    await keep(org, { id: "before" });
    await org.sent("backend", { cid, body: "first" });
    await keep(org, { id: "all", uids: undefined, everyone: true });
    await org.sentSystem("backend", { id: "not kept", uids: ["bob"] });
    await keep(org, { id: "for alice", uids: ["alice"] });
    await org.sent("backend", { cid, body: "second" });
    await keep(org, { id: "taken back", uids: undefined, cid });
    await org.recalledSystem("backend", "taken back");
    const { socket, response } = await org.connect("bob", { since });
    using bob = socket;
    expect(response).toMatchObject({ recovered: true, unread_system_messages_count: 2 });
    const heard: unknown[] = [];
    for (let count = 0; count < 5; count++) {
      const { message, system_message, system_message_delete } = await bob.next();
      heard.push(message?.body ?? system_message?._id ?? system_message_delete?.ids);
    }
    expect(heard).toEqual(["before", "first", "all", "second", ["taken back"]]);
    await org.expectNothingElse(bob);
  });
});

describe("a recall", () => {
  test("takes a system message out of inboxes and counts", async () => {
    const org = await withUsers();
    await keep(org, { id: "a" });
    await keep(org, { id: "all", uids: undefined, everyone: true });
    await org.recalledSystem("backend", "a", "all");
    expect(await idsOf(org, "bob")).toEqual([]);
    expect(await idsOf(org, "alice")).toEqual([]);
    await keep(org, { id: "b" });
    expect(await countOf(org, "bob")).toBe(1);
  });
});

test("a user who was deleted and is there again has an empty inbox", async () => {
  const org = await withUsers();
  const cid = await org.conversation(["backend", "bob"]);
  await keep(org, { id: "a" });
  await keep(org, { id: "all", uids: undefined, everyone: true });
  await keep(org, { id: "room", uids: undefined, cid });
  await herald().admin("DELETE", org.path("users", "bob"));
  expectProblem(await page(org, "bob"), 404, "user_not_found");
  await org.user("bob");
  expect(await idsOf(org, "bob")).toEqual([]);
  expect(await countOf(org, "bob")).toBeUndefined();
});
