import { describe, expect, test } from "bun:test";
import type { MessageInput } from "../../harness/clients/wire.ts";
import { expectProblem, systemMessageOf } from "../../harness/reading/expectations.ts";
import { systemMessageBecomes, systemReportOf } from "../../harness/reading/reports.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();
const refused = (org: Organization, senderId: string, messageSystem: MessageInput) =>
  org.sendSystem<unknown>(senderId, messageSystem);
const dryRun = (org: Organization, senderId: string, messageSystem: MessageInput) =>
  herald().admin<{ dry_run: object }>("POST", "/admin/message/system?dry_run=true", {
    organizationId: org.id,
    senderId,
    messageSystem,
  });

describe("a system message to a conversation", () => {
  test("reaches its participants, the sender too, over sockets and streams, with cid as fifth member", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using dave = await org.socket("dave");
    const ack = await org.sentSystem("alice", { id: "s-1", cid, x: { kind: "renamed" } });
    expect(ack.mid).toBe("s-1");
    for (const listener of [alice, bob]) {
      const event = await listener.next();
      expect(event).toEqual({ system_message: { _id: "s-1", t: ack.t, from: "alice", x: { kind: "renamed" }, cid } });
      expect(Object.keys(event.system_message ?? {})).toEqual(["_id", "t", "from", "x", "cid"]);
    }
    await org.expectNothingElse(alice, bob, dave);
  });

  test("goes to who takes part at its place in the log, whoever joins or leaves around it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    for (let round = 0; round < 10; round++) {
      await org.leave(cid, round % 2 === 0 ? "bob" : "carol");
      await org.join(cid, round % 2 === 0 ? "carol" : "bob");
      await org.sentSystem("alice", { id: `s-${round}`, cid });
    }
    const heardBy = { alice, bob, carol };
    const of = (is: (round: number) => boolean) =>
      Array.from({ length: 10 }, (_, round) => round)
        .filter(is)
        .map((round) => `s-${round}`);
    const expected = { alice: of(() => true), bob: of((round) => round % 2 === 1), carol: of((r) => r % 2 === 0) };
    for (const uid of ["alice", "bob", "carol"] as const) {
      const heard: (string | undefined)[] = [];
      for (const _ of expected[uid]) heard.push((await heardBy[uid].next()).system_message?._id);
      expect(heard).toEqual(expected[uid]);
    }
    await org.expectNothingElse(alice, bob, carol);
  });

  test("keeps the order of the log among messages", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    for (let round = 0; round < 20; round++) {
      await org.sent("alice", { cid, body: `m-${round}` });
      await org.sentSystem("alice", { id: `s-${round}`, cid });
    }
    for (let round = 0; round < 20; round++) {
      expect((await alice.next()).message?.body).toBe(`m-${round}`);
      expect((await alice.next()).system_message?._id).toBe(`s-${round}`);
    }
  });

  test("is refused unless the conversation exists and the sender takes part", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.user("bob");
    using alice = await org.socket("alice");
    expectProblem(await refused(org, "bob", { cid }), 403, "sender_not_participant");
    expectProblem(await refused(org, "nobody", { cid }), 403, "sender_not_participant");
    expectProblem(await refused(org, "alice", { cid: "nowhere" }), 404, "conversation_not_found");
    await org.expectNothingElse(alice);
  });

  test("is neither replayed nor part of the history, and does not move the conversation up", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const seen = await org.sent("alice", { cid, body: "seen" });
    using before = await org.socket("alice");
    await org.sentSystem("alice", { id: "s-1", cid });
    await org.sent("alice", { cid, body: "missed" });
    await org.sentSystem("alice", { id: "s-2", cid });
    await before.next(({ system_message }) => system_message?._id === "s-2");
    using socket = await org.socket("alice", { since: seen.server_mid });
    using stream = await org.sse("alice", { lastEventId: seen.server_mid });
    for (const listener of [socket, stream]) expect((await listener.next()).message?.body).toBe("missed");
    await org.expectNothingElse(socket, stream);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["missed", "seen"]);
    const other = await org.conversation(["alice"]);
    using after = await org.socket("alice");
    const order = async () => ((await after.request("conversation_list")).conversations ?? []).map(({ _id }) => _id);
    expect(await order()).toEqual([other, cid]);
    await org.sentSystem("alice", { cid });
    expect(await order()).toEqual([other, cid]);
  });

  test("has a report with the participants of its moment and no list of users", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    using _again = await org.sse("bob");
    using _stranger = await org.socket("dave");
    await org.sentSystem("alice", { id: "s-1", cid, x: { a: 1 } });
    await org.join(cid, "dave");
    await org.sent("alice", { cid, body: "beside it" });
    await bob.next();
    await bob.request("ack", { ids: ["s-1"] });
    const { system_message, delivery } = await systemMessageBecomes(org, "s-1", {
      recipients: 3,
      delivered_users: 1,
      delivered_connections: 2,
      acknowledged_users: 1,
    });
    expect(system_message).toMatchObject({ _id: "s-1", x: { a: 1 }, cid });
    expect(Object.keys(delivery)).not.toContain("by_user");
    await herald().admin("DELETE", org.path("conversations", cid));
    expectProblem(await herald().admin("GET", org.path("system-messages", "s-1")), 404, "message_not_found");
  });
});

describe("a system message to everyone", () => {
  test("reaches every connection of every user of the organization, and no other, with exactly four members", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using alice = await org.socket("alice");
    using again = await org.socket("alice");
    using bob = await org.sse("bob");
    using foreign = await other.socket("alice");
    const ack = await org.sentSystem("bob", { id: "s-1", everyone: true, x: { text: "maintenance" } });
    for (const listener of [alice, again, bob])
      expect(systemMessageOf(await listener.next())).toEqual({
        _id: "s-1",
        t: ack.t,
        from: "bob",
        x: { text: "maintenance" },
      });
    await org.expectNothingElse(alice, again, bob);
    await other.expectNothingElse(foreign);
  });

  test("is heard once by connections that join while it is sent, or not at all", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const uids = Array.from({ length: 10 }, (_, index) => `user ${index}`);
    for (const uid of uids) await org.user(uid);
    const sending = (async () => {
      for (let round = 0; round < 40; round++) await org.sentSystem("alice", { id: `s-${round}`, everyone: true });
    })();
    const sockets = await Promise.all(uids.map((uid, index) => (index % 2 === 0 ? org.socket(uid) : org.sse(uid))));
    await sending;
    await org.sentSystem("alice", { id: "last", everyone: true });
    for (const socket of sockets) {
      await socket.next(({ system_message }) => system_message?._id === "last");
      const heard = socket.events.map(({ system_message }) => system_message?._id);
      const first = Number(heard[0]?.slice(2));
      const whole = Array.from({ length: 40 - first }, (_, index) => `s-${first + index}`);
      expect(heard).toEqual(heard[0] === "last" ? ["last"] : [...whole, "last"]);
      socket[Symbol.dispose]();
    }
  });

  test("needs a sender of the organization, who need not be connected", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    expectProblem(await refused(org, "nobody", { everyone: true }), 404, "sender_not_found");
    await org.user("bob");
    await org.sentSystem("bob", { everyone: true });
    await alice.next();
    await org.expectNothingElse(alice);
  });

  test("is never replayed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const seen = await org.sent("alice", { cid, body: "seen" });
    await org.sentSystem("alice", { everyone: true });
    const missed = await org.sent("alice", { cid, body: "missed" });
    using socket = await org.socket("alice", { since: seen.server_mid });
    using stream = await org.sse("alice", { lastEventId: seen.server_mid });
    for (const listener of [socket, stream]) expect((await listener.next()).message?._id).toBe(missed.server_mid);
    await org.expectNothingElse(socket, stream);
  });

  test("has a report that counts the users of its moment, and no list of them", async () => {
    const org = await createOrganization(herald());
    for (const uid of ["alice", "bob", "carol", "dave"]) await org.user(uid);
    await herald().admin("DELETE", org.path("users", "dave"));
    using bob = await org.socket("bob");
    using _again = await org.sse("bob");
    using carol = await org.socket("carol");
    await org.sentSystem("alice", { id: "s-1", everyone: true });
    await org.user("erin");
    using erin = await org.socket("erin");
    for (const socket of [bob, carol]) {
      await socket.next();
      await socket.request("ack", { ids: ["s-1"] });
    }
    await erin.request("ack", { ids: ["s-1"] }); // who was not there cannot have it
    await herald().admin("DELETE", org.path("users", "carol"));
    const { delivery, key_id } = await systemMessageBecomes(org, "s-1", {
      recipients: 3,
      delivered_users: 2,
      delivered_connections: 3,
      acknowledged_users: 2,
    });
    expect(key_id).toBe("bootstrap");
    expect(Object.keys(delivery)).not.toContain("by_user");
  });

  test("counts each of many users once, who come and go between the sends", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 40 }, (_, index) => `user ${index}`);
    for (const uid of ["alice", ...uids]) await org.user(uid);
    const sockets = await Promise.all(uids.slice(0, 30).map((uid) => org.socket(uid)));
    const sent: { id: string; online: number }[] = [];
    for (let round = 0; round < 10; round++) {
      const { mid } = await org.sentSystem("alice", { everyone: true });
      await Promise.all(sockets.map((socket) => socket.next(({ system_message }) => system_message?._id === mid)));
      sent.push({ id: mid, online: sockets.length });
      sockets.push(await org.socket(uids[30 + round] ?? ""));
    }
    for (const { id, online } of sent)
      await systemMessageBecomes(org, id, { recipients: 41, delivered_users: online, delivered_connections: online });
    for (const socket of sockets) socket.terminate();
  });
});

describe("whom a system message goes to", () => {
  test("is said by exactly one of uids, cid and everyone", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    const uids = ["alice"];
    const refusals: [MessageInput, ...string[]][] = [
      [{}, "/messageSystem/uids"],
      [{ x: {} }, "/messageSystem/uids"],
      [{ uids, cid }, "/messageSystem/cid"],
      [{ uids, everyone: true }, "/messageSystem/everyone"],
      [{ cid, everyone: true }, "/messageSystem/everyone"],
      [{ uids, cid, everyone: true }, "/messageSystem/cid", "/messageSystem/everyone"],
      [{ everyone: false }, "/messageSystem/everyone"],
      [{ everyone: "true" }, "/messageSystem/everyone"],
      [{ everyone: null }, "/messageSystem/everyone"],
      [{ cid: "" }, "/messageSystem/cid"],
      [{ cid: 7 }, "/messageSystem/cid"],
      [{ cid: null }, "/messageSystem/cid"],
      [{ uids: [] }, "/messageSystem/uids"],
      [{ uids: [], everyone: true }, "/messageSystem/uids", "/messageSystem/everyone"],
    ];
    for (const [messageSystem, ...pointers] of refusals) {
      const answer = await refused(org, "alice", messageSystem);
      for (const pointer of pointers) expectProblem(answer, 422, "invalid_request", pointer);
      const { errors } = answer.body as { errors: { pointer: string }[] };
      expect([messageSystem, errors.map(({ pointer }) => pointer)]).toEqual([messageSystem, pointers]);
    }
    await org.expectNothingElse(alice);
  });

  test("is part of the send: the same id to another is a conflict, to the same a retry", async () => {
    const org = await createOrganization(herald());
    const [cid, otherCid] = [await org.conversation(["alice"]), await org.conversation(["alice"])];
    using alice = await org.socket("alice");
    const ways: MessageInput[] = [{ uids: ["alice"] }, { cid }, { cid: otherCid }, { everyone: true }];
    for (const [index, way] of ways.entries()) {
      const id = `s-${index}`;
      const first = await org.sendSystem("alice", { id, ...way });
      const again = await org.sendSystem("alice", { id, ...way });
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      for (const other of ways.filter((one) => one !== way))
        expectProblem(await refused(org, "alice", { id, ...other }), 409, "message_id_conflict");
      expect((await alice.next()).system_message?._id).toBe(id);
    }
    await org.expectNothingElse(alice);
  });

  test("is counted by a dry run, which sends nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    for (const uid of ["dave", "erin"]) await org.user(uid);
    await herald().admin("DELETE", org.path("users", "erin"));
    using bob = await org.socket("bob");
    using dave = await org.sse("dave");
    const answers = [
      await dryRun(org, "alice", { id: "s", cid }),
      await dryRun(org, "alice", { id: "s", everyone: true }),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { dry_run: { recipients: 3, online: 1, unknown_users: [] } }],
      [200, { dry_run: { recipients: 4, online: 2, unknown_users: [] } }],
    ]);
    expectProblem(await dryRun(org, "dave", { cid }), 403, "sender_not_participant");
    expectProblem(await dryRun(org, "erin", { everyone: true }), 404, "sender_not_found");
    await org.expectNothingElse(bob, dave);
  });

  test("changes nothing about who may send: the scope, the organization and the senders of the key", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await other.user("alice");
    const { key: messages } = await createKey(herald(), { scopes: ["message:send"], organization: org.id });
    const { key } = await createKey(herald(), {
      scopes: ["system:send"],
      organization: org.id,
      allowed_senders: ["alice"],
    });
    const post = (credential: string, organizationId: string, senderId: string, way: MessageInput) =>
      callWith<unknown>(herald(), credential, "POST", "/admin/message/system", {
        organizationId,
        senderId,
        messageSystem: way,
      });
    for (const way of [{ cid }, { everyone: true }]) {
      expect((await post(key, org.id, "alice", way)).status).toBe(201);
      expectProblem(await post(key, org.id, "bob", way), 403, "sender_forbidden");
      expectProblem(await post(key, other.id, "alice", way), 403, "organization_forbidden");
      expectProblem(await post(messages, org.id, "alice", way), 403, "insufficient_scope");
    }
  });

  test("is listed by name for a conversation, and not for everyone", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.sentSystem("alice", { id: "to c", cid });
    await org.join(cid, "carol");
    await org.sentSystem("alice", { id: "to all", everyone: true });
    const recipientsOf = (mid: string) =>
      herald().admin<{ items: { uid: string }[] }>("GET", org.path("system-messages", mid, "recipients"));
    const listed = await recipientsOf("to c");
    expect([listed.status, listed.body.items.map(({ uid }) => uid)]).toEqual([200, ["alice", "bob"]]);
    const everyone = await recipientsOf("to all");
    expectProblem(everyone, 404, "not_found");
    expect(everyone.text).toContain("to everyone");
  });

  test("is refused for an id that several senders used, unless the sender is named", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.sentSystem("alice", { id: "s", cid });
    await org.sentSystem("bob", { id: "s", everyone: true });
    const [toConversation, toEveryone] = [
      await systemReportOf(org, "s", "alice"),
      await systemReportOf(org, "s", "bob"),
    ];
    expect([toConversation.system_message.cid, toEveryone.system_message.cid]).toEqual([cid, undefined]);
    expectProblem(await herald().admin("GET", org.path("system-messages", "s")), 422, "invalid_request", "/senderId");
  });
});
