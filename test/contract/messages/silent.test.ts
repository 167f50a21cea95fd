import { describe, expect, test } from "bun:test";
import { sendBatch } from "../../harness/clients/batch.ts";
import type { Socket } from "../../harness/clients/socket.ts";
import { openFeed } from "../../harness/clients/sse.ts";
import type { Event, MessageInput } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../../harness/servers/receiver.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";
import { exportOf, importInto, messageLine } from "../transfer/lines.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });
const members = ["_id", "t", "from", "body", "cid", "x", "attachments", "created_at"];

async function setUp() {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice", "bob"]) };
}

async function unreadOf(bob: Socket, cid: string): Promise<number | undefined> {
  const { conversations = [] } = await bob.request("conversation_list");
  return conversations.find(({ _id }) => _id === cid)?.unread_messages_count;
}

/** Sends again, and then without `silent` or with it. */
async function retry(send: (content: MessageInput) => ReturnType<Organization["send"]>, content: MessageInput) {
  const first = await send(content);
  const again = await send(content);
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const { silent, ...loud } = content;
  expectProblem(await send(silent === true ? loud : { ...content, silent: true }), 409, "message_id_conflict");
}

describe("a silent message", () => {
  test("is heard over sockets, streams and the feed like any other, with silent as last member", async () => {
    const { org, cid } = await setUp();
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using feed = await openFeed(herald().url, org.id, herald().key);
    const { server_mid } = await org.sent("alice", { cid, body: "quiet", silent: true });
    for (const listener of [alice, bob, feed]) {
      const { message } = await listener.next();
      expect(message).toMatchObject({ _id: server_mid, body: "quiet", silent: true });
      expect(Object.keys(message ?? {})).toEqual([...members, "silent"]);
    }
    const { server_mid: loud } = await org.sent("alice", { cid, body: "loud" });
    const event = await alice.next();
    expect([event.message?._id, Object.keys(event.message ?? {})]).toEqual([loud, members]);
    expect((await org.history(cid)).map(({ silent }) => silent)).toEqual([undefined, true]);
  });

  test("is recovered, listed and reported with silent", async () => {
    const { org, cid } = await setUp();
    const first = await org.sent("alice", { cid, body: "first" });
    const { server_mid } = await org.sent("alice", { cid, body: "quiet", silent: true });
    const { socket: bob } = await org.connect("bob", { since: first.server_mid });
    using _ = bob;
    expect((await bob.next()).message).toMatchObject({ _id: server_mid, silent: true });
    const { messages } = await bob.request("message_list", { cid });
    expect(messages?.[0]).toMatchObject({ _id: server_mid, silent: true });
    const { conversations } = await bob.request("conversation_list");
    expect(conversations?.[0]?.last_message).toMatchObject({ _id: server_mid, silent: true });
    const report = await herald().admin<{ message: Event["message"] }>("GET", org.path("messages", server_mid));
    expect(report.body.message).toMatchObject({ _id: server_mid, silent: true });
  });

  test("counts as unread nowhere, and no author hears that it was read, although the mark moves past it", async () => {
    const { org, cid } = await setUp();
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    const silent = { cid, body: "quiet", silent: true };
    await org.sent("alice", silent);
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.hasRead("bob", cid); // nothing was unread
    const { server_mid: loud } = await org.sent("alice", { cid, body: "loud" });
    const { server_mid: last } = await org.sent("alice", silent);
    expect(await unreadOf(bob, cid)).toBe(1);
    await org.hasRead("bob", cid, [last]);
    expect(await unreadOf(bob, cid)).toBe(0);
    for (let messages = 0; messages < 3; messages++) expect((await alice.next()).message).toBeDefined();
    expect((await alice.next()).message_read).toMatchObject({ ids: [loud], cid, from: "bob" });
    await org.expectNothingElse(alice);
  });

  test("stays silent when it is edited, and can be taken back", async () => {
    const { org, cid } = await setUp();
    using bob = await org.socket("bob");
    const { server_mid: id } = await org.sent("alice", { cid, body: "quiet", silent: true });
    await org.edited("alice", { id, body: "still quiet" });
    expect(await unreadOf(bob, cid)).toBe(0);
    const [message] = await org.history(cid);
    expect(message).toMatchObject({ _id: id, body: "still quiet", silent: true });
    expect(Object.keys(message ?? {})).toEqual([...members, "silent", "edited_at"]);
    await org.recalled("alice", cid, id);
    expect(await org.history(cid)).toEqual([]);
    for (const member of ["message", "message_edit", "message_delete"])
      expect(Object.keys(await bob.next())).toEqual([member]);
  });

  test("is exported and imported as one", async () => {
    const { org } = await setUp();
    await org.conversation(["alice", "bob"], "room");
    const quiet = messageLine("old", 1, { silent: true });
    const given = [quiet, messageLine("loud", 2), messageLine("wrong", 3, { silent: false })];
    const { report, end } = await importInto(org, given);
    expect(end).toMatchObject({ done: true, failed: 1 });
    expect(report[0]?.problem?.errors?.map(({ pointer }) => pointer)).toEqual(["/message/silent"]);
    expect((await importInto(org, [quiet])).end).toMatchObject({ done: true, failed: 0 });
    await org.sent("alice", { cid: "room", body: "sent", silent: true });
    expect((await org.history("room")).map(({ silent }) => silent)).toEqual([true, undefined, true]);
    const copy = await createOrganization(herald());
    await importInto(copy, await exportOf(org));
    expect((await copy.history("room")).map(({ silent }) => silent)).toEqual([true, undefined, true]);
    using bob = await copy.socket("bob");
    expect(await unreadOf(bob, "room")).toBe(0);
  });
});

describe("a silent system message", () => {
  test("is heard by users, a conversation and everyone, with silent as last member", async () => {
    const { org, cid } = await setUp();
    using bob = await org.socket("bob");
    for (const [address, carried] of [
      [{ uids: ["bob"] }, {}],
      [{ cid }, { cid }],
      [{ everyone: true }, {}],
    ] as const) {
      const { mid, t } = await org.sentSystem("alice", { ...address, x: { n: 1 }, silent: true });
      const { system_message: heard } = await bob.next();
      expect(heard).toEqual({ _id: mid, t, from: "alice", x: { n: 1 }, ...carried, silent: true });
      expect(Object.keys(heard ?? {}).at(-1)).toBe("silent");
      const report = await herald().admin<Event>("GET", org.path("system-messages", mid));
      expect(report.body.system_message).toEqual(heard);
    }
  });
});

describe("silent sends", () => {
  test("are told to no webhook", async () => {
    const { org, cid } = await setUp();
    using receiver = startReceiver();
    const events = ["message.unreached", "system_message.unreached"];
    await hooksOf(org).toReceiver("push", receiver, { events });
    await org.sent("alice", { cid, body: "quiet", silent: true });
    await org.sentSystem("alice", { uids: ["bob"], silent: true });
    const { mid } = await org.sentSystem("alice", { uids: ["bob"] });
    const { server_mid } = await org.sent("alice", { cid, body: "loud" });
    const posted = (await receiver.first(2)).map(({ webhook }) => webhook);
    const of = (type: string) => posted.find((webhook) => webhook.type === type);
    expect(of("system_message.unreached")).toMatchObject({ data: { system_message: { _id: mid } } });
    expect(of("message.unreached")).toMatchObject({ data: { message: { _id: server_mid } } });
  });

  test("are retried with silent; the same id with and without it is a conflict", async () => {
    const { org, cid } = await setUp();
    const send = (message: MessageInput) => org.send("alice", message);
    const sendSystem = (messageSystem: MessageInput) => org.sendSystem<never>("alice", messageSystem);
    for (const silent of [{ silent: true }, {}]) {
      const id = silent.silent ? "quiet" : "loud";
      await retry(send, { id, cid, body: "x", ...silent });
      await retry(sendSystem, { id, uids: ["bob"], ...silent });
    }
  });

  test.each([false, 1, "true", null])("are refused with silent: %p", async (silent) => {
    const { org, cid } = await setUp();
    const message = await org.send<unknown>("alice", { cid, body: "x", silent });
    const system = await org.sendSystem<unknown>("alice", { uids: ["bob"], silent });
    expectProblem(message, 422, "invalid_request", "/message/silent");
    expectProblem(system, 422, "invalid_request", "/messageSystem/silent");
  });

  test("may be scheduled, in a batch, and dry runs", async () => {
    const { org, cid } = await setUp();
    const { put, ended, messageOf, systemOf } = scheduling(org);
    const message = messageOf("alice", { cid, body: "quiet", silent: true });
    const system = systemOf("alice", { uids: ["bob"], silent: true });
    using bob = await org.socket("bob");
    for (const path of ["/admin/message", "/admin/message/system"]) {
      const body = path === "/admin/message" ? message : system;
      expect((await herald().admin("POST", `${path}?dry_run=true`, body)).status).toBe(200);
    }
    expect((await sendBatch(herald(), [message, system])).answers.map(({ status }) => status)).toEqual([201, 201]);
    for (const [id, request] of [
      ["m", message],
      ["s", system],
    ] as const) {
      expect((await put(id, { send_at: "2020-01-01T00:00:00Z", request })).status).toBe(201);
      expect(await ended(id)).toMatchObject({ state: "sent" });
    }
    const heard: (boolean | undefined)[] = [];
    for (let events = 0; events < 4; events++) {
      const event = await bob.next();
      heard.push((event.message ?? event.system_message)?.silent);
    }
    expect(heard).toEqual([true, true, true, true]);
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.expectNothingElse(bob);
  });
});
