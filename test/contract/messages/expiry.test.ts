import { describe, expect, test } from "bun:test";
import { sendBatch } from "../../harness/clients/batch.ts";
import { openFeed } from "../../harness/clients/sse.ts";
import type { InboxItem, MessageInput, MessageReport, Page, SystemMessageReport } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../../harness/servers/receiver.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });
const soonMs = 3_000; // enough for a few calls on a busy machine
const laterMs = 6_000; // and for many
const dayMs = 86_400_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();

async function setUp() {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice", "bob"]) };
}

const reportOf = (org: Organization, id: string) =>
  herald()
    .admin<MessageReport>("GET", org.path("messages", id))
    .then(({ body }) => body);
const systemReportOf = (org: Organization, id: string) =>
  herald()
    .admin<SystemMessageReport>("GET", org.path("system-messages", id))
    .then(({ body }) => body);
const inboxOf = async (org: Organization, uid: string) =>
  (await herald().admin<Page<InboxItem>>("GET", org.path("users", uid, "system-messages"))).body.items;
/** Resolves once a time of this machine, which the server shares, has passed. */
const passed = (time: string) => Bun.sleep(Math.max(0, Date.parse(time) - Date.now()) + 5);

describe("a message with `expires_at`", () => {
  test("is heard with the time, and at that time by a recall, over sockets, streams and the feed", async () => {
    const { org, cid } = await setUp();
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using feed = await openFeed(herald().url, org.id, herald().key);
    const expires_at = at(soonMs);
    const { server_mid } = await org.sent("alice", { cid, body: "soon gone", expires_at });
    for (const listener of [alice, bob, feed]) {
      const { message } = await listener.next();
      expect(message).toMatchObject({ _id: server_mid, expires_at });
      expect(Object.keys(message ?? {}).at(-1)).toBe("expires_at");
    }
    for (const listener of [alice, bob, feed]) {
      const { message_delete: ended } = await listener.next();
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
      expect(ended).toEqual({ ids: [server_mid], cid, from: "alice", type: "all", t: expect.any(Number) });
    }
    await org.expectNothingElse(alice, bob);
  });

  test("is listed, counted, recovered and edited until then, and not from then on", async () => {
    const { org, cid } = await setUp();
    const first = await org.sent("alice", { cid, body: "first" });
    const expires_at = at(laterMs);
    const { server_mid } = await org.sent("alice", { cid, body: "soon gone", expires_at });
    await org.edited("alice", { id: server_mid, body: "edited" });
    using bob = await org.socket("bob");
    const look = async () => {
      const { conversations: [shown] = [] } = await bob.request("conversation_list");
      const { socket: again } = await org.connect("bob", { since: first.server_mid });
      using _ = again;
      const { messages = [] } = await again.request("message_list", { cid });
      const heard = again.frames.flatMap((frame) => Object.keys(JSON.parse(frame)));
      return {
        history: (await org.history(cid)).map(({ body }) => body),
        listed: messages.map(({ body }) => body),
        last: shown?.last_message?.body,
        unread: shown?.unread_messages_count,
        recovered: heard.filter((name) => name !== "response"),
      };
    };
    expect(await look()).toEqual({
      history: ["edited", "first"],
      listed: ["edited", "first"],
      last: "edited",
      unread: 2,
      recovered: ["message", "message_edit"],
    });
    await passed(expires_at);
    const { recovered, ...left } = await look();
    expect(left).toEqual({ history: ["first"], listed: ["first"], last: "first", unread: 1 });
    expect(recovered).not.toContain("message");
    expect(recovered).not.toContain("message_edit");
    expectProblem(await org.edit("alice", { id: server_mid, body: "late" }), 404, "message_not_found");
    const recall = await org.recall("alice", { cid, ids: [server_mid], type: "all" });
    expectProblem(recall, 404, "message_not_found");
    expectProblem(await org.read("bob", cid, [server_mid]), 404, "message_not_found");
    await eventually(
      async () => (await look()).recovered.join() === "message_delete" || undefined,
      "the end in `since`",
    );
  });

  test("leaves a report with the time, and without the text", async () => {
    const { org, cid } = await setUp();
    const expires_at = at(soonMs);
    const { server_mid } = await org.sent("alice", { cid, body: "soon gone", expires_at });
    const before = await reportOf(org, server_mid);
    expect(before.message).toMatchObject({ body: "soon gone", expires_at });
    expect(before).not.toHaveProperty("expired_at");
    await passed(expires_at);
    const after = await reportOf(org, server_mid);
    expect(after).toMatchObject({ expired_at: expires_at, message: { _id: server_mid, from: "alice", cid } });
    expect(after.message).not.toHaveProperty("body");
    expect(after).not.toHaveProperty("recalled_at");
  });

  test("that was taken back before has no end of its own", async () => {
    const { org, cid } = await setUp();
    using bob = await org.socket("bob");
    const expires_at = at(soonMs);
    const { server_mid } = await org.sent("alice", { cid, body: "x", expires_at });
    await org.recalled("alice", cid, server_mid);
    await passed(expires_at);
    const report = await reportOf(org, server_mid);
    expect(report.recalled_at).toMatch(ISO_MILLISECONDS);
    expect(report).not.toHaveProperty("expired_at");
    for (const member of ["message", "message_delete"]) expect(await bob.next()).toHaveProperty(member);
    await org.expectNothingElse(bob);
  });
});

describe("a system message with `expires_at`", () => {
  test("is heard with the time, and its end by those it was addressed to", async () => {
    const { org, cid } = await setUp();
    await org.user("carol");
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    const expires_at = at(soonMs);
    await org.sentSystem("alice", { id: "list", uids: ["bob"], expires_at });
    await org.sentSystem("alice", { id: "room", cid, expires_at });
    await org.sentSystem("alice", { id: "all", everyone: true, expires_at });
    for (let heard = 0; heard < 3; heard++) expect((await bob.next()).system_message).toMatchObject({ expires_at });
    expect((await carol.next()).system_message).toMatchObject({ _id: "all", expires_at });
    const ended: string[] = [];
    for (let heard = 0; heard < 3; heard++) {
      const { system_message_delete: end } = await bob.next();
      expect(end).toMatchObject({ from: "alice", t: expect.any(Number) });
      ended.push(...(end?.ids ?? []));
    }
    expect(ended.sort()).toEqual(["all", "list", "room"]);
    expect((await carol.next()).system_message_delete?.ids).toEqual(["all"]);
    await org.expectNothingElse(bob, carol);
  });

  test("leaves inboxes and counts at its time, and `since` brings its end", async () => {
    const { org, cid } = await setUp();
    const { server_mid: since } = await org.sent("alice", { cid, body: "before" });
    const expires_at = at(laterMs);
    await org.sentSystem("alice", { id: "goes", uids: ["bob"], keep_days: 1, expires_at });
    await org.sentSystem("alice", { id: "stays", uids: ["bob"], keep_days: 1 });
    const look = async () => {
      const { socket, response } = await org.connect("bob", { since });
      using _ = socket;
      const { system_messages = [] } = await socket.request("system_message_list", {});
      const inbox = (await inboxOf(org, "bob")).map(({ _id }) => _id);
      return { count: response.unread_system_messages_count, listed: system_messages.map(({ _id }) => _id), inbox };
    };
    const both = ["stays", "goes"];
    expect(await look()).toEqual({ count: 2, listed: both, inbox: both });
    await passed(expires_at);
    expect(await look()).toEqual({ count: 1, listed: ["stays"], inbox: ["stays"] });
    await eventually(async () => (await systemReportOf(org, "goes")).expired_at, "the report");
    await eventually(async () => {
      const { socket } = await org.connect("bob", { since });
      using _ = socket;
      await socket.request("system_message_list", {});
      const events = socket.frames.map((frame) => JSON.parse(frame));
      return events.some((event) => event.system_message_delete?.ids.includes("goes")) || undefined;
    }, "the end in `since`");
    expect(await systemReportOf(org, "goes")).toMatchObject({ expired_at: expires_at });
  });

  test("the report names what has replaced it", async () => {
    const { org } = await setUp();
    const keyed = { uids: ["bob"], keep_days: 1, key: "export" };
    await org.sentSystem("alice", { id: "10 %", ...keyed });
    await org.sentSystem("alice", { id: "50 %", ...keyed });
    await org.sentSystem("alice", { id: "100 %", ...keyed });
    await org.sentSystem("bob", { id: "another sender's", ...keyed });
    expect((await systemReportOf(org, "10 %")).superseded_by).toBe("100 %");
    expect((await systemReportOf(org, "50 %")).superseded_by).toBe("100 %");
    expect(await systemReportOf(org, "100 %")).not.toHaveProperty("superseded_by");
  });
});

describe("`expires_at`", () => {
  const operations = [
    [
      "message",
      (org: Organization, cid: string, more: object) => org.send<never>("alice", { cid, body: "x", ...more }),
    ],
    [
      "messageSystem",
      (org: Organization, _: string, more: object) => org.sendSystem<never>("alice", { uids: ["bob"], ...more }),
    ],
  ] as const;

  test.each(operations)("of %s must be a time that is ahead, at most a year", async (name, send) => {
    const { org, cid } = await setUp();
    for (const expires_at of [at(-1), at(400 * dayMs), "tomorrow", 1_700_000_000, null, "2026-12-01"])
      expectProblem(await send(org, cid, { expires_at }), 422, "invalid_request", `/${name}/expires_at`);
    for (const expires_at of [at(365 * dayMs), at(60_000).replace("Z", "+00:00")])
      expect((await send(org, cid, { expires_at })).status).toBe(201);
  });

  test.each(operations)("of %s is part of what a retry repeats, also when it has passed", async (_, send) => {
    const { org, cid } = await setUp();
    const expires_at = at(soonMs);
    const first = await send(org, cid, { id: "m-1", expires_at });
    await passed(expires_at);
    const again = await send(org, cid, { id: "m-1", expires_at: expires_at.replace("Z", "+00:00") });
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expectProblem(await send(org, cid, { id: "m-1" }), 409, "message_id_conflict");
  });

  test("is told by no webhook once it has passed", async () => {
    const { org, cid } = await setUp();
    using receiver = startReceiver();
    await hooksOf(org).toReceiver("push", receiver, { events: ["message.unreached"], wait_seconds: 2 });
    await org.sent("alice", { cid, body: "soon gone", expires_at: at(1_500) });
    const expires_at = at(dayMs);
    const { server_mid } = await org.sent("alice", { cid, body: "stays", expires_at });
    const [posted] = await receiver.first(1);
    expect(posted?.webhook).toMatchObject({ data: { message: { _id: server_mid, expires_at } } });
    expect(receiver.received.length).toBe(1);
  });

  test("holds for scheduled sends, batches and dry runs", async () => {
    const { org, cid } = await setUp();
    const { put, ended, messageOf } = scheduling(org);
    using bob = await org.socket("bob");
    const content = (expires_at: string): MessageInput => ({ cid, body: "x", expires_at });
    const request = messageOf("alice", content(at(2 * 3_600_000)));
    const late = await put("late", { send_at: at(3 * 3_600_000), request });
    expectProblem(late, 422, "invalid_request", "/request/message/expires_at");
    expect((await put("soon", { send_at: at(-1), request })).status).toBe(201);
    expect(await ended("soon")).toMatchObject({ state: "sent" });
    expect((await bob.next()).message).toMatchObject({ expires_at: request.message.expires_at });
    const lines = [messageOf("alice", content(at(-1))), request];
    const { answers } = await sendBatch(herald(), lines);
    expect(answers.map(({ status }) => status)).toEqual([422, 201]);
    const tried = await herald().admin<never>("POST", "/admin/message?dry_run=true", lines[0]);
    expectProblem(tried, 422, "invalid_request", "/message/expires_at");
  });
});
