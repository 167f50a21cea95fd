import { describe, expect, test } from "bun:test";
import { openSocket } from "../harness/clients/socket.ts";
import type { Page } from "../harness/clients/wire.ts";
import { expectMessageShape, expectProblem, ISO_MILLISECONDS } from "../harness/reading/expectations.ts";
import { messageBecomes, reportOf, systemMessageBecomes, systemReportOf } from "../harness/reading/reports.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald();
const nothing = { delivered_users: 0, delivered_connections: 0, acknowledged_users: 0 };

describe("GET …/messages/{server_mid}", () => {
  test("gives the message as delivered, the key it was sent with, and the figures, and nothing else", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    const { id, key } = await createKey(herald(), { scopes: ["message:send"], organization: org.id });
    const x = { a: [1, { b: null }], big: 1e300 };
    const envelope = { organizationId: org.id, senderId: "alice", message: { cid, body: "Hello ✓", x } };
    const sent = await callWith<{ ask: { server_mid: string } }>(herald(), key, "POST", "/admin/message", envelope);
    const delivered = (await bob.next()).message;
    const report = await messageBecomes(org, sent.body.ask.server_mid, { delivered_users: 1 });
    expect(Object.keys(report).sort()).toEqual(["delivery", "key_id", "message"]);
    expectMessageShape(report.message);
    expect(report.message).toEqual(delivered as typeof report.message);
    expect(report.key_id).toBe(id);
    const { first_delivered_at: first, last_delivered_at: last, ...figures } = report.delivery;
    expect(figures).toEqual({
      recipients: 3,
      delivered_users: 1,
      delivered_connections: 1,
      acknowledged_users: 0,
    });
    expect([first, last]).toEqual([expect.stringMatching(ISO_MILLISECONDS), expect.stringMatching(ISO_MILLISECONDS)]);
    expect(Math.abs(Date.parse(first ?? "") - Date.parse(report.message.created_at))).toBeLessThan(60_000);
  });

  test("names the bootstrap key if the message was sent with it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    expect((await reportOf(org, server_mid)).key_id).toBe("bootstrap");
  });

  test("reports that nobody heard a message, if so", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using _other = await org.socket("carol");
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    expect((await reportOf(org, server_mid)).delivery).toEqual({
      recipients: 2,
      ...nothing,
      first_delivered_at: null,
      last_delivered_at: null,
    });
  });

  test("counts each user once, and each connection, over WebSocket and stream, including the sender's", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using _a = await org.socket("alice");
    using _b1 = await org.socket("bob");
    using _b2 = await org.socket("bob");
    using b3 = await org.sse("bob");
    using _stranger = await org.socket("dave");
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await b3.next();
    await messageBecomes(org, server_mid, { recipients: 3, delivered_users: 2, delivered_connections: 4 });
  });

  test("counts participants at the time of the send, whoever joins or leaves later", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    const before = await org.sent("alice", { cid, body: "before" });
    await org.leave(cid, "bob");
    const between = await org.sent("alice", { cid, body: "between" });
    await org.join(cid, "dave");
    await org.join(cid, "erin");
    const after = await org.sent("alice", { cid, body: "after" });
    await org.expectNothingElseAfter(bob, ["before"]);
    await org.expectNothingElseAfter(carol, ["before", "between", "after"]);
    await messageBecomes(org, before.server_mid, { recipients: 3, delivered_users: 2, delivered_connections: 2 });
    await messageBecomes(org, between.server_mid, { recipients: 2, delivered_users: 1, delivered_connections: 1 });
    await messageBecomes(org, after.server_mid, { recipients: 4, delivered_users: 1, delivered_connections: 1 });
  });

  test("counts users who return with since once each, and never those who were not participants at the time", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using staying = await org.socket("carol");
    const first = await org.sent("alice", { cid, body: "first" });
    const second = await org.sent("alice", { cid, body: "second" });
    await org.join(cid, "dave");
    const third = await org.sent("alice", { cid, body: "third" });
    await staying.next(({ message }) => message?.body === "third");
    await messageBecomes(org, third.server_mid, { delivered_users: 1, delivered_connections: 1 });
    for (const uid of ["bob", "bob", "dave"]) {
      using socket = await org.socket(uid, { since: first.server_mid });
      await socket.next(({ message }) => message?.body === "third");
    }
    using _stream = await org.sse("carol", { lastEventId: second.server_mid });
    await messageBecomes(org, third.server_mid, { recipients: 4, delivered_users: 3, delivered_connections: 5 });
    await messageBecomes(org, second.server_mid, { recipients: 3, delivered_users: 2, delivered_connections: 3 });
    await messageBecomes(org, first.server_mid, { recipients: 3, delivered_users: 1, delivered_connections: 1 });
  });

  test("accepts ids with every legal character", async () => {
    const org = await createOrganization(herald(), "o/%2F.*> ✓");
    const cid = await org.conversation(["__proto__", "a/b"], "../c");
    using socket = await org.socket("__proto__");
    const { server_mid } = await org.sent("a/b", { cid, body: "x" });
    await socket.next();
    await messageBecomes(org, server_mid, { recipients: 2, delivered_users: 1 });
  });

  test("is right for hundreds of users who come and go between messages", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 60 }, (_, index) => `user ${index}`);
    const cid = await org.conversation(["alice", ...uids]);
    const sockets = await Promise.all(uids.slice(0, 40).map((uid) => org.socket(uid)));
    const sent: { id: string; online: number }[] = [];
    for (let round = 0; round < 20; round++) {
      sent.push({ id: (await org.sent("alice", { cid, body: `${round}` })).server_mid, online: sockets.length });
      await Promise.all(sockets.map((socket) => socket.next(({ message }) => message?.body === `${round}`)));
      if (round < 10) sockets.push(await org.socket(uids[40 + round] ?? ""));
      else sockets.pop()?.terminate();
      if (round === 10) sockets.push(await org.socket(uids[0] ?? ""));
    }
    for (const { id, online } of sent.slice(0, 10))
      await messageBecomes(org, id, { recipients: 61, delivered_users: online, delivered_connections: online });
    for (const socket of sockets) socket.terminate();
  });

  test("is 404 for anything but a message: unknown, of another organization, a system message, of a deleted conversation", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const cid = await other.conversation(["alice"]);
    await org.user("alice");
    const foreign = await other.sent("alice", { cid, body: "x" });
    const system = await org.sentSystem("alice", { uids: ["alice"] });
    for (const id of [foreign.server_mid, system.mid, Bun.randomUUIDv7(), "x"])
      expectProblem(await herald().admin("GET", org.path("messages", id)), 404, "message_not_found");
    await herald().admin("DELETE", other.path("conversations", cid));
    expectProblem(await herald().admin("GET", other.path("messages", foreign.server_mid)), 404, "message_not_found");
    expectProblem(
      await herald().admin("GET", "/admin/organizations/nowhere/messages/x"),
      404,
      "organization_not_found",
    );
    expectProblem(await herald().admin("GET", `${org.path("messages", "x")}?a=b`), 422, "invalid_request", "/a");
  });

  test("is recorded in the audit log, like reads of history", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await reportOf(org, server_mid);
    const path = `/admin/audit?organization=${encodeURIComponent(org.id)}&operation=getMessage`;
    const { body } = await herald().admin<Page<{ target: object }>>("GET", path);
    expect(body.items.map(({ target }) => target)).toEqual([
      { organization: org.id, conversation: cid, message: server_mid },
    ]);
  });
});

describe("GET …/system-messages/{mid}", () => {
  test("says for each user: delivered, offline, or unknown when it was sent", async () => {
    const org = await createOrganization(herald());
    await org.user("offline");
    using bob = await org.socket("bob");
    using _bob2 = await org.sse("bob");
    using _other = await org.socket("other");
    const { id, key } = await createKey(herald(), { scopes: ["system:send"], organization: org.id });
    await callWith(herald(), key, "POST", "/admin/message/system", {
      organizationId: org.id,
      senderId: "bob",
      messageSystem: { id: "s-1", uids: ["bob", "offline", "later", "bob"], x: { a: 1 } },
    });
    const system_message = (await bob.next()).system_message;
    await org.user("later");
    const report = await systemMessageBecomes(org, "s-1", { delivered_users: 1, delivered_connections: 2 });
    expect(Object.keys(report).sort()).toEqual(["delivery", "key_id", "system_message"]);
    expect(report.system_message).toEqual(system_message as typeof report.system_message);
    expect(report.key_id).toBe(id);
    expect(report.delivery).toEqual({
      recipients: 3,
      delivered_users: 1,
      delivered_connections: 2,
      acknowledged_users: 0,
      first_delivered_at: expect.stringMatching(ISO_MILLISECONDS),
      last_delivered_at: expect.stringMatching(ISO_MILLISECONDS),
      by_user: { bob: "delivered", offline: "offline", later: "unknown" },
    });
  });

  test("does not change for users who connect or are deleted later", async () => {
    const org = await createOrganization(herald());
    for (const uid of ["alice", "bob", "carol"]) await org.user(uid);
    await org.sentSystem("alice", { id: "s-1", uids: ["bob", "carol"] });
    using bob = await org.socket("bob");
    await org.expectNothingElse(bob);
    await herald().admin("DELETE", org.path("users", "carol"));
    const { delivery } = await systemReportOf(org, "s-1");
    expect(delivery).toMatchObject({ ...nothing, by_user: { bob: "offline", carol: "offline" } });
  });

  test("names users whose ids have a meaning in JavaScript", async () => {
    const org = await createOrganization(herald());
    using socket = await org.socket("__proto__");
    const uids = ["__proto__", "constructor", "toString", "0", "hasOwnProperty"];
    await org.sentSystem("__proto__", { id: "__proto__", uids });
    await socket.next();
    const { delivery } = await systemMessageBecomes(org, "__proto__", { delivered_users: 1 });
    expect(Object.entries(delivery.by_user ?? {}).sort()).toEqual([
      ["0", "unknown"],
      ["__proto__", "delivered"],
      ["constructor", "unknown"],
      ["hasOwnProperty", "unknown"],
      ["toString", "unknown"],
    ]);
  });

  test("requires senderId if several senders used the id, and accepts it if one did", async () => {
    const org = await createOrganization(herald());
    for (const uid of ["alice", "bob"]) await org.user(uid);
    await org.sentSystem("alice", { id: "s/1", uids: ["alice"], x: { of: "alice" } });
    expect((await systemReportOf(org, "s/1")).system_message.from).toBe("alice");
    await org.sentSystem("bob", { id: "s/1", uids: ["bob"], x: { of: "bob" } });
    const path = org.path("system-messages", "s/1");
    expectProblem(await herald().admin("GET", path), 422, "invalid_request", "/senderId");
    for (const sender of ["alice", "bob"])
      expect((await systemReportOf(org, "s/1", sender)).system_message).toMatchObject({
        from: sender,
        x: { of: sender },
      });
    expectProblem(await herald().admin("GET", `${path}?senderId=carol`), 404, "message_not_found");
    expectProblem(await herald().admin("GET", `${path}?senderId=`), 422, "invalid_request", "/senderId");
  });

  test("covers 10,000 users, each once", async () => {
    const org = await createOrganization(herald());
    using last = await org.socket("user 9999");
    const uids = Array.from({ length: 10_000 }, (_, index) => `user ${index}`);
    await org.sentSystem("user 9999", { id: "many", uids });
    await last.next();
    const { delivery } = await systemMessageBecomes(org, "many", { recipients: 10_000, delivered_users: 1 });
    const fates = Object.values(delivery.by_user ?? {});
    expect([fates.length, fates.filter((fate) => fate === "unknown").length]).toEqual([10_000, 9_999]);
  });

  test("is 404 for anything but a system message of the organization", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    await other.user("alice");
    await other.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { id: "m-1", cid, body: "x" });
    for (const id of ["s-1", "m-1", "x"])
      expectProblem(await herald().admin("GET", org.path("system-messages", id)), 404, "message_not_found");
    expectProblem(
      await herald().admin("GET", "/admin/organizations/nowhere/system-messages/x"),
      404,
      "organization_not_found",
    );
  });
});

describe("receipts", () => {
  test("are counted once per user, for messages and system messages, however often they are sent", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    using again = await org.socket("bob");
    using carol = await org.socket("carol");
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await org.sentSystem("alice", { id: "s-1", uids: ["bob", "carol"] });
    await bob.next(({ system_message }) => system_message !== undefined);
    expect(await bob.request("ack", { ids: [server_mid, "s-1", server_mid] }, "5")).toEqual({ id: "5", success: true });
    expect(await again.request("ack", { ids: [server_mid, "s-1"] })).toMatchObject({ success: true });
    await messageBecomes(org, server_mid, { delivered_users: 2, acknowledged_users: 1 });
    await systemMessageBecomes(org, "s-1", { delivered_users: 2, acknowledged_users: 1 });
    await carol.request("ack", { ids: [server_mid] });
    await messageBecomes(org, server_mid, { delivered_users: 2, acknowledged_users: 2 });
    await systemMessageBecomes(org, "s-1", { acknowledged_users: 1 });
  });

  test("are in the report as soon as they are answered", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    for (let round = 0; round < 5; round++) {
      const { server_mid } = await org.sent("alice", { cid, body: "x" });
      await bob.request("ack", { ids: [server_mid] });
      expect((await reportOf(org, server_mid)).delivery.acknowledged_users).toBe(1);
    }
  });

  test("of messages not sent to the user are skipped, and look like those of nonexistent ones", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const cid = await org.conversation(["alice", "bob"]);
    const foreign = await other.sent("alice", { cid: await other.conversation(["alice", "eve"]), body: "x" });
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await org.sentSystem("alice", { id: "s-1", uids: ["bob"] });
    await org.sentSystem("alice", { id: "s-2", uids: ["eve"] }); // offline, and never gets it
    using eve = await org.socket("eve");
    for (const id of [server_mid, "s-1", "s-2", foreign.server_mid, "nothing"])
      expect(await eve.request("ack", { ids: [id] }, "same")).toEqual({ id: "same", success: true });
    await org.join(cid, "eve");
    await eve.request("ack", { ids: [server_mid] });
    expect((await reportOf(org, server_mid)).delivery.acknowledged_users).toBe(0);
    for (const mid of ["s-1", "s-2"]) expect((await systemReportOf(org, mid)).delivery.acknowledged_users).toBe(0);
    expect((await reportOf(other, foreign.server_mid)).delivery.acknowledged_users).toBe(0);
  });

  test("are refused before connect, without ids, with more than 100, and with an invalid id", async () => {
    const org = await createOrganization(herald());
    using bob = await org.socket("bob");
    const many = (count: number) => Array.from({ length: count }, (_, index) => `m-${index}`);
    for (const payload of [
      {},
      { ids: [] },
      { ids: many(101) },
      { ids: "m" },
      { ids: [1] },
      { ids: ["a\nb"] },
      { id: "m" },
    ])
      expect((await bob.request("ack", payload)).error).toMatchObject({ status: 422, code: "invalid_request" });
    expect((await bob.request("ack", { ids: many(100) })).success).toBe(true);
    using stranger = await openSocket(herald().url);
    expect((await stranger.request("ack", { ids: ["m"] })).error).toMatchObject({ status: 401, code: "unauthorized" });
  });
});
