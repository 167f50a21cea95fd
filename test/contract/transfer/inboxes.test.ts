import { describe, expect, test } from "bun:test";
import type { InboxItem } from "../../../src/contract/messages/inbox.ts";
import type { Page } from "../../harness/clients/wire.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { exportOf, importInto, messageLine } from "./lines.ts";

const herald = useHerald();
const everybody = ["backend", "billing", "alice", "bob", "carol", "dave", "erin", "frank"];

const keep = (org: Organization, id: string, message: Record<string, unknown>, sender = "backend") =>
  org.sentSystem(sender, { id, keep_days: 30, x: { id, sender }, ...message });
const inboxOf = async (org: Organization, uid: string, query = "") =>
  (await herald().admin<Page<InboxItem>>("GET", `${org.path("users", uid, "system-messages")}${query}`)).body.items ??
  [];
const idsOf = async (org: Organization, uid: string) => (await inboxOf(org, uid)).map(({ _id }) => _id);

/** What each user sees: the items with their marks, those that are unread, and the count at `connect`. */
async function inboxesOf(org: Organization) {
  const seen: Record<string, unknown> = {};
  for (const uid of everybody) {
    if ((await herald().admin("GET", org.path("users", uid))).status === 404) continue;
    const { socket, response } = await org.connect(uid);
    const listed = (await socket.request("system_message_list", {})).system_messages;
    socket[Symbol.dispose]();
    seen[uid] = [
      await inboxOf(org, uid),
      listed,
      (await inboxOf(org, uid, "?unread=true")).map(({ _id }) => _id),
      response.unread_system_messages_count,
    ];
  }
  return seen;
}

async function mark(org: Organization, uid: string, request: { ids?: string[]; seen?: true }) {
  using socket = await org.socket(uid);
  expect((await socket.request("system_message_read", request)).success).toBe(true);
}

/** Users who came, left, came again and were deleted between system messages of several senders, with keys, marks and recalls. */
async function lived(): Promise<Organization> {
  const org = await createOrganization(herald());
  for (const uid of ["backend", "billing", "alice", "bob", "frank"]) await org.user(uid);
  await org.conversation(["backend", "alice", "bob", "frank"], "room");
  await keep(org, "same", { uids: ["alice", "bob"] });
  await keep(org, "same", { uids: ["bob"], silent: true }, "billing");
  await keep(org, "all 1", { everyone: true });
  await keep(org, "room 1", { cid: "room" });
  await mark(org, "bob", { ids: ["same"], seen: true });
  await org.user("carol");
  await keep(org, "progress 1", { everyone: true, key: "progress" });
  await keep(org, "progress of the room", { cid: "room", key: "progress" });
  await keep(org, "progress of billing", { uids: ["alice", "carol"], key: "progress" }, "billing");
  await org.join("room", "carol");
  await keep(org, "room 2", { cid: "room", silent: true });
  await mark(org, "bob", { ids: ["room 1", "all 1"] });
  await org.leave("room", "bob");
  await keep(org, "room 3", { cid: "room" });
  await org.join("room", "bob");
  await keep(org, "room 4", { cid: "room" });
  await org.leave("room", "frank");
  await org.user("dave");
  await keep(org, "hidden", { everyone: true, key: "k" });
  await keep(org, "hides from bob", { uids: ["bob"], key: "k" });
  await keep(org, "taken back", { uids: ["alice", "dave"] });
  await org.recalledSystem("backend", "hides from bob", "taken back");
  await keep(org, "all 2", { everyone: true });
  await mark(org, "alice", {});
  await keep(org, "not a user yet", { uids: ["erin", "dave"] });
  await org.user("erin");
  await keep(org, "for the deleted", { uids: ["frank", "dave"] });
  await org.sentSystem("backend", { id: "not kept", everyone: true });
  await herald().admin("DELETE", org.path("users", "billing"));
  await org.join("room", "erin");
  await org.leave("room", "carol");
  return org;
}

const dayMs = 24 * 3_600_000;
const daysAhead = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

/** A line of a system message that was sent so many days ago, and is kept for ten more. */
function systemLine(id: string, content: Record<string, unknown>, daysAgo = 1) {
  const [created_at, kept_until] = [daysAhead(-daysAgo), daysAhead(10)];
  return { system_message: { id, senderId: "backend", x: { id }, created_at, kept_until, ...content } };
}

/** How other lines refer to such a line. */
function referenceTo({ system_message: { senderId, id, created_at } }: ReturnType<typeof systemLine>) {
  return { senderId, id, created_at };
}

const users = ["backend", "alice", "bob"].map((id) => ({ user: { id } }));
const room = { conversation: { id: "room", participants: ["backend", "alice", "bob"] } };

async function importing(...lines: object[]): Promise<Organization> {
  const org = await createOrganization(herald());
  const all = [...users, room, ...lines];
  expect((await importInto(org, all)).report).toEqual([{ done: true, lines: all.length, failed: 0 }]);
  return org;
}

describe("an export of an organization with inboxes", () => {
  test("imported into another one, gives the same inboxes, and is exported from there again", async () => {
    const org = await lived();
    const [lines, before] = [await exportOf(org), await inboxesOf(org)];
    expect(Object.keys(before)).toEqual(everybody.filter((uid) => uid !== "billing"));
    const copy = await createOrganization(herald());
    const done = { done: true, lines: lines.length, failed: 0 };
    expect((await importInto(copy, lines, { query: "?dry_run=true" })).end).toEqual(done);
    for (const _ of [1, 2]) {
      expect((await importInto(copy, lines)).end).toEqual(done);
      expect(await inboxesOf(copy)).toEqual(before);
      expect(await exportOf(copy)).toEqual(lines);
    }
    expect((await importInto(org, lines)).end).toEqual(done);
    expect([await inboxesOf(org), await exportOf(org)]).toEqual([before, lines]);
  });

  test("of one user has what is in the user's inbox, with marks, and nothing about others", async () => {
    const org = await lived();
    const lines = await exportOf(org, "users", "bob");
    const about = JSON.stringify(lines);
    for (const other of ["alice", "carol", "dave", "erin", "frank"]) expect(about).not.toContain(`"${other}"`);
    const copy = await createOrganization(herald());
    expect((await importInto(copy, lines)).end).toMatchObject({ failed: 0 });
    expect(await inboxOf(copy, "bob")).toEqual(await inboxOf(org, "bob"));
  });
});

describe("an imported system message", () => {
  test("is delivered to nobody, is unread until it is marked, and is kept until its time", async () => {
    const org = await importing();
    using bob = await org.socket("bob");
    using stream = await org.sse("bob");
    const expires_at = daysAhead(5);
    const quiet = systemLine("quiet", { uids: ["bob", "bob"], key: "k", silent: true, expires_at });
    const loud = systemLine("loud", { uids: ["bob"] });
    const { created_at } = loud.system_message;
    const over = systemLine("over", { uids: ["bob"], created_at, kept_until: created_at });
    await importInto(org, [quiet, loud, over, systemLine("ended", { everyone: true, expires_at: daysAhead(-0.5) })]);
    expect(await inboxesOf(org)).toMatchObject({ alice: [[], [], [], undefined], bob: [{}, {}, ["loud", "quiet"], 1] });
    const [newest, item] = await inboxOf(org, "bob");
    const sent = { _id: "loud", t: expect.any(Number), from: "backend", x: { id: "loud" }, created_at };
    expect(newest).toEqual({ ...sent, seen_at: null, read_at: null } as InboxItem);
    expect(item).toMatchObject({ created_at: quiet.system_message.created_at, key: "k", silent: true, expires_at });
    const [seen_at, read_at] = [daysAhead(-0.5), daysAhead(-0.25)];
    const read = { uid: "bob", ...referenceTo(loud), seen_at, read_at };
    for (const marks of [{ read_at: null }, {}, { seen_at: read_at }])
      await importInto(org, [{ system_message_read: { ...read, ...marks } }]);
    expect(await inboxesOf(org)).toMatchObject({ bob: [[{ seen_at, read_at }, {}], {}, ["quiet"], 0] });
    await org.expectNothingElse(bob, stream);
  });

  test("to everyone or to a conversation is for those who are there by then; who leaves keeps it", async () => {
    const org = await importing();
    await keep(org, "sent", { everyone: true });
    await org.leave("room", "bob");
    await importInto(org, [
      { user: { id: "carol" } },
      systemLine("all", { everyone: true }),
      systemLine("room", { cid: "room" }),
      { user: { id: "dave" } },
      { participant: { cid: "room", uid: "dave" } },
      systemLine("later", { everyone: true }),
      systemLine("room, later", { cid: "room" }),
    ]);
    await org.user("erin");
    await org.join("room", "erin");
    const expected = {
      alice: ["sent", "room, later", "later", "room", "all"],
      bob: ["sent", "later", "all"],
      carol: ["later", "all"],
      dave: ["room, later", "later"],
      erin: [],
    };
    for (const [uid, ids] of Object.entries(expected)) expect([uid, await idsOf(org, uid)]).toEqual([uid, ids]);
    await org.leave("room", "alice");
    await importInto(org, [systemLine("after leaving", { cid: "room" })]);
    await org.join("room", "alice");
    expect(await idsOf(org, "alice")).toEqual(expected.alice);
    expect(await idsOf(org, "dave")).toEqual(["after leaving", ...expected.dave]);
  });

  test("is replaced by the next with its key, imported or sent, and by none from before", async () => {
    const first = systemLine("first", { uids: ["bob"], key: "k" });
    const org = await importing(first, systemLine("second", { everyone: true, key: "k" }));
    expect(await idsOf(org, "bob")).toEqual(["second"]);
    await keep(org, "sent", { uids: ["bob"], key: "k" });
    await importInto(org, [systemLine("third", { cid: "room", key: "k" })]);
    expect(await idsOf(org, "bob")).toEqual(["sent"]);
    expect(await idsOf(org, "alice")).toEqual(["third"]);
    await org.recalledSystem("backend", "sent");
    expect(await idsOf(org, "bob")).toEqual([]);
  });

  test("can be taken back, and comes not again; an erasure empties it", async () => {
    const lines = [
      systemLine("a", { uids: ["bob"] }),
      systemLine("b", { everyone: true }),
      systemLine("c", { cid: "room" }),
    ];
    const org = await importing(...lines);
    using bob = await org.socket("bob");
    await org.recalledSystem("backend", "a", "b");
    const recalls = [(await bob.next()).system_message_delete?.ids, (await bob.next()).system_message_delete?.ids];
    expect(recalls.flat().toSorted()).toEqual(["a", "b"]);
    expect((await importInto(org, lines)).end).toMatchObject({ failed: 0 });
    expect(await idsOf(org, "bob")).toEqual(["c"]);
    await herald().admin("DELETE", `${org.path("users", "backend")}?messages=erase`);
    expect(await inboxOf(org, "bob")).toMatchObject([{ _id: "c", x: {} }]);
  });

  test("to thousands of users is stored in parts, whose faults are one, and completed by the same line again", async () => {
    const uids = Array.from({ length: 1_000 }, (_, index) => `u${index}`);
    const org = await importing(...uids.slice(0, 900).map((id) => ({ user: { id } })));
    const line = systemLine("wide", { uids });
    expect((await importInto(org, [line])).report).toMatchObject([
      { line: 1, problem: { code: "user_not_found" } },
      { done: true, lines: 1, failed: 1 },
    ]);
    expect([await idsOf(org, "u0"), await idsOf(org, "u800")]).toEqual([["wide"], ["wide"]]);
    await importInto(
      org,
      uids.slice(900).map((id) => ({ user: { id } })),
    );
    for (const _ of [1, 2]) expect((await importInto(org, [line])).end).toEqual({ done: true, lines: 1, failed: 0 });
    const lines = (await exportOf(org)).filter(({ system_message }) => system_message !== undefined);
    expect(lines).toEqual([line]);
    await org.recalledSystem("backend", "wide");
    await importInto(org, [line]);
    expect(await idsOf(org, "u999")).toEqual([]);
  });

  test("has a report of zeros", async () => {
    const org = await importing(systemLine("a", { uids: ["bob"] }));
    const report = await herald().admin<Record<string, unknown>>("GET", org.path("system-messages", "a"));
    expect(report.body).toMatchObject({ system_message: { _id: "a", x: { id: "a" } }, delivery: { recipients: 0 } });
  });

  test("is gone with its user, its conversation and its organization", async () => {
    const line = systemLine("all", { everyone: true });
    const reads = { system_message_read: { uid: "bob", ...referenceTo(line), seen_at: daysAhead(0), read_at: null } };
    const inRoom = systemLine("room", { cid: "room" });
    const before = { inbox_range: { uid: "carol", cid: "room", up_to: referenceTo(inRoom) } };
    const lines = [line, inRoom, systemLine("own", { uids: ["bob"] }), reads, { user: { id: "carol" } }, before];
    const org = await importing(...lines);
    expect(await idsOf(org, "carol")).toEqual(["room"]);
    for (const uid of ["bob", "carol"]) {
      await herald().admin("DELETE", org.path("users", uid));
      await org.user(uid);
      await org.join("room", uid);
      expect(await idsOf(org, uid)).toEqual([]);
    }
    await herald().admin("DELETE", org.path("conversations", "room"));
    await org.conversation(["alice", "bob"], "room");
    expect(await idsOf(org, "alice")).toEqual(["all"]);
    await importInto(org, lines);
    expect(await idsOf(org, "alice")).toEqual(["room", "all"]);
    expect(await idsOf(org, "bob")).toEqual(["room", "own"]);
    await herald().admin("DELETE", org.path());
    await herald().admin("PUT", org.path(), {});
    for (const uid of ["alice", "bob"]) await org.user(uid);
    expect([await idsOf(org, "alice"), await idsOf(org, "bob")]).toEqual([[], []]);
  });
});

describe("lines about inboxes", () => {
  test("are refused by their numbers, also in a dry run, which knows the users of earlier lines", async () => {
    const line = systemLine("a", { uids: ["bob"] });
    const marks = { ...referenceTo(line), seen_at: daysAhead(0), read_at: null };
    const { system_message: again } = line;
    const lines = [
      ...users,
      room,
      line,
      systemLine("b", { uids: ["bob", "nobody"] }),
      systemLine("c", { cid: "nowhere" }),
      systemLine("d", { cid: "room", everyone: true }),
      systemLine("e", {}),
      systemLine("f", { everyone: true, kept_until: daysAhead(400) }),
      systemLine("g", { everyone: true, kept_until: daysAhead(-2) }),
      systemLine("h", { everyone: true, created_at: daysAhead(1), kept_until: daysAhead(2) }),
      { system_message: { ...again, x: { another: 1 } } },
      { system_message_read: { uid: "nobody", ...marks } },
      { system_message_read: { uid: "bob", ...marks, read_at: daysAhead(1) } },
      { system_message_read: { uid: "bob", ...marks, id: "unknown" } },
      { inbox_range: { uid: "nobody", after: referenceTo(line) } },
      { inbox_range: { uid: "bob", cid: "nowhere", after: referenceTo(line) } },
      { inbox_range: { uid: "bob", cid: "room", up_to: { ...referenceTo(line), id: "unknown" } } },
    ];
    const faults = [
      [6, "user_not_found", undefined],
      [7, "conversation_not_found", undefined],
      [8, "invalid_request", "/system_message/everyone"],
      [9, "invalid_request", "/system_message/uids"],
      [10, "invalid_request", "/system_message/kept_until"],
      [11, "invalid_request", "/system_message/kept_until"],
      [12, "invalid_request", "/system_message/created_at"],
      [13, "message_id_conflict", undefined],
      [14, "user_not_found", undefined],
      [15, "invalid_request", "/system_message_read/read_at"],
      [17, "user_not_found", undefined],
      [18, "conversation_not_found", undefined],
    ];
    const org = await createOrganization(herald());
    for (const query of ["?dry_run=true", ""]) {
      const { report } = await importInto(org, lines, { query });
      const found = report.flatMap(({ line: at, problem }) =>
        at === undefined ? [] : [[at, problem?.code, problem?.errors?.[0]?.pointer]],
      );
      expect(found).toEqual(faults);
    }
    expect(await inboxesOf(org)).toMatchObject({ alice: [[], [], [], undefined], bob: [{}, {}, ["a"], 1] });
  });

  test("need the right to send as their senders, and as the users whose inboxes they are about", async () => {
    const line = systemLine("a", { uids: ["bob"] });
    const marks = { ...referenceTo(line), seen_at: daysAhead(0), read_at: null };
    const lines = [line, { system_message_read: { uid: "bob", ...marks } }, { inbox_range: { uid: "bob" } }];
    const org = await importing();
    const codesWith = async (rights: Record<string, unknown>) => {
      const { key } = await createKey(herald(), rights);
      return (await importInto(org, lines, { key })).report.map(({ problem }) => problem?.code);
    };
    const scope = "insufficient_scope";
    expect(await codesWith({ scopes: ["directory:write"] })).toEqual([scope, scope, scope, undefined]);
    const scopes = ["directory:write", "message:send"];
    const [forbidden, done] = ["sender_forbidden", undefined];
    expect(await codesWith({ scopes, allowed_senders: ["backend"] })).toEqual([forbidden, forbidden, done]);
    expect(await codesWith({ scopes, allowed_senders: ["bob"] })).toEqual([forbidden, done]);
  });
});

test("a message that ends is imported and exported with its time, and not once that has passed", async () => {
  const expires_at = daysAhead(1);
  const ended = messageLine("ended", 2, { expires_at: daysAhead(-1) });
  const org = await importing(messageLine("old", 1, { expires_at }), ended);
  expect(await org.history("room")).toMatchObject([{ body: "body of old", expires_at }]);
  const messages = (await exportOf(org)).filter(({ message }) => message !== undefined);
  expect(messages).toEqual([messageLine("old", 1, { expires_at })]);
});
