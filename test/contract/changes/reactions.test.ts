import { describe, expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { DryRun, MessageReport, Problem } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { exportOf, importInto, messageLine } from "../transfer/lines.ts";

const herald = useHerald();

async function roomWithMessage(): Promise<{ org: Organization; cid: string; mid: string }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const { server_mid: mid } = await org.sent("alice", { cid, body: "before" });
  return { org, cid, mid };
}

/** The reactions to the newest message of a conversation, by key and as a user sees them. */
async function reactionsOf(org: Organization, cid: string, uid: string) {
  using socket = await org.socket(uid);
  const { messages } = await socket.request("message_list", { cid });
  const { conversations } = await socket.request("conversation_list");
  const last = conversations?.find(({ _id }) => _id === cid)?.last_message;
  expect(last?.reactions).toEqual(messages?.[0]?.reactions);
  const [byKey] = await org.history(cid);
  expect(byKey?.reactions?.total).toEqual(messages?.[0]?.reactions?.total);
  expect(byKey?.reactions).not.toHaveProperty("own");
  return messages?.[0]?.reactions;
}

describe("a reaction", () => {
  test("answers success, and every participant hears it on sockets, streams and the feed, the user too", async () => {
    const { org, cid, mid } = await roomWithMessage();
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using carol = await org.socket("carol");
    using feed = await openFeed(herald().url, org.id, herald().key, { kind: "message_reactions_update" });
    const answer = await org.react("bob", { mid, add: "👍" });
    expect([answer.status, answer.text, answer.headers.has("idempotent-replayed")]).toEqual([
      200,
      '{"success":true}',
      false,
    ]);
    for (const listener of [alice, bob, feed])
      expect(await listener.next()).toEqual({ message_reactions_update: { mid, cid, from: "bob", add: "👍" } });
    expect(bob.raw.at(-1)).toMatchObject({ event: "message_reactions_update", id: undefined });
    await org.reacted("bob", mid, { add: "❤️", remove: "👍" });
    const update = { mid, cid, from: "bob", add: "❤️", remove: "👍" };
    for (const listener of [alice, bob, feed])
      expect(await listener.next()).toEqual({ message_reactions_update: update });
    await org.expectNothingElse(alice, bob, carol);
  });

  test("is counted in lists, the last message and the report, with the user's own", async () => {
    const { org, cid, mid } = await roomWithMessage();
    expect(await reactionsOf(org, cid, "bob")).toBeUndefined();
    await org.reacted("bob", mid, { add: "👍" });
    await org.reacted("bob", mid, { add: "__proto__" });
    await org.reacted("alice", mid, { add: "👍" });
    const total = JSON.parse('{"👍":2,"__proto__":1}');
    expect(await reactionsOf(org, cid, "bob")).toEqual({ own: ["__proto__", "👍"], total });
    expect(await reactionsOf(org, cid, "alice")).toEqual({ own: ["👍"], total });
    const report = await herald().admin<MessageReport>("GET", org.path("messages", mid));
    expect(report.body.message).toMatchObject({ reactions: { total } });
    await org.edited("alice", { id: mid, body: "after" });
    using bob = await org.socket("bob");
    const { messages } = await bob.request("message_list", { cid, ids: [mid] });
    expect(messages).toMatchObject([{ body: "after", reactions: { own: ["__proto__", "👍"], total } }]);
    await org.reacted("bob", mid, { remove: "__proto__" });
    for (const uid of ["alice", "bob"]) await org.reacted(uid, mid, { remove: "👍" });
    expect(await reactionsOf(org, cid, "bob")).toBeUndefined();
  });

  test("that is there already, or is not, is neither stored nor told", async () => {
    const { org, cid, mid } = await roomWithMessage();
    using alice = await org.socket("alice");
    await org.reacted("bob", mid, { add: "👍" });
    for (const change of [{ add: "👍" }, { remove: "🎉" }, { add: "👍", remove: "🎉" }]) {
      const again = await org.react("bob", { mid, ...change });
      expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([
        200,
        '{"success":true}',
        "true",
      ]);
    }
    await org.reacted("bob", mid, { add: "🎉", remove: "none" });
    expect((await alice.next()).message_reactions_update?.add).toBe("👍");
    expect(await alice.next()).toEqual({ message_reactions_update: { mid, cid, from: "bob", add: "🎉" } });
    await org.expectNothingElse(alice);
    expect((await org.history(cid))[0]?.reactions).toEqual({ total: { "👍": 1, "🎉": 1 } });
  });

  test("at once by many users and again is counted once for each", async () => {
    const { org, cid, mid } = await roomWithMessage();
    const users = Array.from({ length: 20 }, (_, index) => `u${index}`);
    for (const uid of users) await org.join(cid, uid);
    await Promise.all([...users, ...users].map((uid) => org.reacted(uid, mid, { add: "🎉" })));
    expect((await org.history(cid))[0]?.reactions).toEqual({ total: { "🎉": 20 } });
  });

  test("counts as unread nowhere, and hides no message behind it", async () => {
    const { org, cid, mid } = await roomWithMessage();
    for (let round = 0; round < 130; round++) {
      await org.reacted("alice", mid, { add: "👍" });
      await org.reacted("alice", mid, { remove: "👍" });
    }
    using bob = await org.socket("bob");
    const { conversations } = await bob.request("conversation_list");
    expect(conversations).toMatchObject([{ unread_messages_count: 1, last_message: { _id: mid } }]);
    await org.hasRead("bob", cid);
    expect((await bob.request("conversation_list")).conversations?.[0]?.unread_messages_count).toBe(0);
  });

  test("is gone with its message: taken back, expired, or of a deleted conversation", async () => {
    const { org, cid, mid } = await roomWithMessage();
    await org.reacted("bob", mid, { add: "👍" });
    await org.recalled("alice", cid, mid);
    const report = await herald().admin<MessageReport>("GET", org.path("messages", mid));
    expect(report.body.message).not.toHaveProperty("reactions");
    expectProblem(await org.react("bob", { mid, add: "👍" }), 404, "message_not_found");
    const { server_mid: other } = await org.sent("alice", { cid, body: "other" });
    await org.reacted("bob", other, { add: "👍" });
    await herald().admin("DELETE", org.path("conversations", cid));
    expectProblem(await org.react("bob", { mid: other, add: "🎉" }), 404, "message_not_found");
    await org.conversation(["bob"], cid);
    expectProblem(await org.react("bob", { mid: other, add: "🎉" }), 404, "message_not_found");
    const expires_at = new Date(Date.now() + 4_000).toISOString();
    const { server_mid: brief } = await org.sent("bob", { cid, body: "brief", expires_at });
    using bob = await org.socket("bob");
    await org.reacted("bob", brief, { add: "👍" });
    expect((await bob.next()).message_reactions_update?.mid).toBe(brief);
    expect((await bob.next()).message_delete?.ids).toEqual([brief]);
    expectProblem(await org.react("bob", { mid: brief, add: "🎉" }), 404, "message_not_found");
  });

  test("is gone with the user who is erased, and stays when the user leaves or is deleted", async () => {
    const { org, cid, mid } = await roomWithMessage();
    await org.reacted("alice", mid, { add: "👍" });
    for (const reaction of ["👍", "secret"]) await org.reacted("bob", mid, { add: reaction });
    await org.leave(cid, "bob");
    expect((await org.history(cid))[0]?.reactions?.total).toEqual({ "👍": 2, secret: 1 });
    await herald().admin("DELETE", `${org.path("users", "bob")}?messages=erase`);
    expect((await org.history(cid))[0]?.reactions).toEqual({ total: { "👍": 1 } });
    const { server_mid: last } = await org.sent("alice", { cid, body: "last" });
    const { socket: alice } = await org.connect("alice", { since: mid });
    using _ = alice;
    expect((await alice.next()).message_reactions_update).toEqual({ mid, cid, from: "alice", add: "👍" });
    expect((await alice.next()).message?._id).toBe(last);
  });

  test("works on an imported message", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["bob"], "room");
    expect((await importInto(org, [messageLine("old", 1)])).end).toMatchObject({ failed: 0 });
    const [old] = await org.history("room");
    await org.reacted("bob", old?._id ?? "", { add: "👍" });
    expect(await reactionsOf(org, "room", "bob")).toEqual({ own: ["👍"], total: { "👍": 1 } });
  });

  test("is refused, and changes nothing, of who takes no part, to no message, or without a reaction", async () => {
    const { org, cid, mid } = await roomWithMessage();
    const other = await createOrganization(herald());
    await other.conversation(["bob"], cid);
    using alice = await org.socket("alice");
    expectProblem(await org.react("carol", { mid, add: "👍" }), 403, "sender_not_participant");
    expectProblem(await org.react("bob", { mid: "none", add: "👍" }), 404, "message_not_found");
    expectProblem(await other.react("bob", { mid, add: "👍" }), 404, "message_not_found");
    const system = await org.sentSystem("alice", { cid, x: {} });
    expectProblem(await org.react("bob", { mid: system.mid, add: "👍" }), 404, "message_not_found");
    for (const wrong of [
      {},
      { add: "" },
      { add: "x".repeat(11) },
      { add: "👍", remove: "👍" },
      { add: 1 },
      { y: "👍" },
    ])
      expectProblem(await org.react("bob", { mid, ...wrong }), 422, "invalid_request");
    expect((await org.history(cid))[0]).not.toHaveProperty("reactions");
    expect((await alice.next()).system_message?._id).toBe(system.mid);
    await org.expectNothingElse(alice);
    await org.reacted("bob", mid, { add: "👨‍👩‍👧‍👦" }); // 11 UTF-16 units, 7 characters
  });

  test("may be one of a hundred different ones of a message", async () => {
    const { org, mid, cid } = await roomWithMessage();
    for (let count = 0; count < 100; count++) await org.reacted("bob", mid, { add: `r${count}` });
    const refused = await org.react<Problem>("alice", { mid, add: "one more" });
    expectProblem(refused, 422, "invalid_request");
    expect(refused.body.errors).toEqual([
      { pointer: "/messageReaction/add", detail: "the message has 100 different reactions already" },
    ]);
    await org.reacted("alice", mid, { add: "r7" });
    await org.reacted("bob", mid, { add: "one more", remove: "r0" });
    const { total = {} } = (await org.history(cid))[0]?.reactions ?? {};
    expect([Object.keys(total).length, total.r7, total.r0, total["one more"]]).toEqual([100, 2, undefined, 1]);
  });

  test("as a dry run tells who would hear it, and stores nothing", async () => {
    const { org, cid, mid } = await roomWithMessage();
    using alice = await org.socket("alice");
    const body = { organizationId: org.id, senderId: "bob", messageReaction: { mid, add: "👍" } };
    const tried = await herald().admin<DryRun>("PUT", "/admin/message/reaction?dry_run=true", body);
    expect(tried.body).toEqual({ dry_run: { recipients: 2, online: 1, unknown_users: [] } });
    expect((await org.history(cid))[0]).not.toHaveProperty("reactions");
    await org.expectNothingElse(alice);
  });
});

describe("exports and imports", () => {
  test("carry reactions, and the same lines again change nothing", async () => {
    const { org, cid, mid } = await roomWithMessage();
    await org.conversation(["alice", "bob"], "room");
    expect((await importInto(org, [messageLine("old", 1)])).end).toMatchObject({ failed: 0 });
    const [old] = await org.history("room");
    for (const message of [mid, old?._id ?? ""]) {
      await org.reacted("bob", message, { add: "👍" });
      await org.reacted("bob", message, { add: "🎉" });
      await org.reacted("alice", message, { add: "👍" });
    }
    const lines = await exportOf(org);
    expect(lines.filter((line) => line.reaction !== undefined).length).toBe(6);
    const copy = await createOrganization(herald());
    for (let round = 0; round < 2; round++) {
      expect((await importInto(copy, lines)).end).toMatchObject({ done: true, failed: 0 });
      for (const room of [cid, "room"])
        expect(await reactionsOf(copy, room, "bob")).toEqual({ own: ["🎉", "👍"].sort(), total: { "👍": 2, "🎉": 1 } });
    }
    expect(await exportOf(copy)).toEqual(lines);
    const own = (await exportOf(org, "users", "bob")).filter((line) => line.reaction !== undefined);
    expect(own.map(({ reaction }) => reaction)).toEqual(
      expect.arrayContaining([
        { mid, senderId: "bob", reaction: "👍" },
        { mid: "old", senderId: "bob", reaction: "🎉" },
      ]),
    );
    expect(own.length).toBe(4);
  });

  test("add to what is there, and leave out what is about no message", async () => {
    const { org, cid, mid } = await roomWithMessage();
    await org.reacted("bob", mid, { add: "👍" });
    const line = (id: string, senderId: string, reaction = "👍") => ({ reaction: { mid: id, senderId, reaction } });
    const lines = [line("none", "bob"), line(mid, "bob"), line(mid, "alice"), line(mid, "gone"), line(mid, "bob", "")];
    using alice = await org.socket("alice");
    const { report, end } = await importInto(org, lines);
    expect([end, report[0]?.problem?.errors?.[0]?.pointer]).toMatchObject([{ failed: 1 }, "/reaction/reaction"]);
    expect(await reactionsOf(org, cid, "alice")).toEqual({ own: ["👍"], total: { "👍": 3 } });
    await org.recalled("alice", cid, mid);
    expect((await importInto(org, [line(mid, "carol")])).end).toMatchObject({ failed: 0 });
    expect((await alice.next()).message_delete?.ids).toEqual([mid]);
    await org.expectNothingElse(alice);
  });
});
