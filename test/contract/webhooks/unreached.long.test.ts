import { describe, expect, test } from "bun:test";
import type { UnreachedData, Webhook } from "../../../sdk/webhooks.ts";
import { ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../../harness/servers/receiver.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

/** For tests that do something between a send and what is told of it: on a busy machine one second is not enough. */
const unhurried = { wait_seconds: 3 };

async function setUp(settings: object = {}) {
  const org = await createOrganization(herald());
  const receiver = startReceiver();
  const hooks = hooksOf(org);
  await hooks.toReceiver("push", receiver, settings);
  return { org, receiver, hooks, [Symbol.dispose]: () => receiver[Symbol.dispose]() };
}

function dataOf(webhook: Webhook | undefined): UnreachedData {
  if (webhook === undefined || !("unreached" in webhook.data)) throw new Error("this tells of nobody");
  return webhook.data;
}

const namesIn = (webhook: Webhook | undefined) =>
  dataOf(webhook)
    .unreached.map(({ uid }) => uid)
    .toSorted();

/** A message that nobody has got: once it was posted, so was everything sent before it. */
async function sendLast(org: Organization): Promise<string> {
  const cid = await org.conversation(["last"]);
  return (await org.sent("last", { cid, body: "last" })).server_mid;
}

describe("a webhook is told", () => {
  test("of a message that grows once it is complete: all of it, and who has not got its last piece", async () => {
    using context = await setUp();
    const { org, receiver } = context;
    const cid = await org.conversation(["agent", "bob", "carol"]);
    using bob = await org.socket("bob");
    const { server_mid: id } = await org.sent("agent", { cid, body: "one ", open: true });
    await org.appended("agent", { id, offset: 4, text: "two" });
    for (let heard = 0; heard < 2; heard++) await bob.next();
    await bob.close();
    using carol = await org.socket("carol");
    const last = await sendLast(org); // which waits as long as it would
    const [first] = await receiver.first(1);
    expect(first?.webhook.data).toMatchObject({ message: { _id: last } });
    await org.appended("agent", { id, offset: 7, text: ".", done: true });
    expect(await carol.next()).toMatchObject({ message_append: { done: true } });
    const [, second] = await receiver.first(2);
    expect(second?.webhook.data).toMatchObject({
      message: { _id: id, body: "one two." },
      unreached: [
        { uid: "agent", reason: "offline" },
        { uid: "bob", reason: "offline" },
      ],
    });
    expect(dataOf(second?.webhook)).not.toHaveProperty("message.open");
  });

  test("who has not got a message, with exactly what the recipients see", async () => {
    using context = await setUp();
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using alice = await org.socket("alice");
    const sentAt = Date.now();
    const { server_mid } = await org.sent("alice", { cid, body: "grüezi 👋", x: { n: 1.5, "2": null, "1": [] } });
    const heard = await alice.next();
    const [first] = await receiver.first(1);
    expect(Date.now() - sentAt).toBeWithin(1_000, 9_000);
    expect(first?.webhook).toEqual({
      id: expect.stringMatching(UUID_V7),
      type: "message.unreached",
      timestamp: expect.stringMatching(ISO_MILLISECONDS),
      data: {
        organizationId: org.id,
        message: heard.message,
        unreached: [
          { uid: "bob", reason: "offline" },
          { uid: "carol", reason: "offline" },
        ],
        waited_seconds: 1,
        part: 1,
        parts: 1,
      },
    } as never);
    expect(heard.message?._id).toBe(server_mid);
    expect(receiver.faults()).toBe(0);
  });

  test("nothing about what everybody has got, and the same about others as the list of recipients", async () => {
    using context = await setUp(unhurried);
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    await org.sent("alice", { cid, body: "to both" });
    await org.sentSystem("alice", { uids: ["bob"] });
    const last = await sendLast(org);
    const [only] = await receiver.first(1);
    expect(only?.webhook).toMatchObject({ data: { message: { _id: last } } });
    await alice.next();
    await bob.next();
  });

  test("who has not got a system message: of a list those who are users, of a conversation and of everyone", async () => {
    using context = await setUp({ events: ["system_message.unreached"] });
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob"]);
    await org.user("carol");
    await org.sent("alice", { cid, body: "not asked for" });
    await org.sentSystem("alice", { id: "list", uids: ["carol", "nobody", "bob"], x: { a: 1 } });
    await org.sentSystem("alice", { id: "room", cid });
    await org.sentSystem("alice", { id: "all", everyone: true });
    const received = await receiver.first(3);
    const told = received.map(({ webhook }) => {
      if (webhook.type !== "system_message.unreached") throw new Error(webhook.type);
      return [webhook.data.system_message._id, namesIn(webhook)];
    });
    expect(Object.fromEntries(told)).toEqual({
      list: ["bob", "carol"],
      room: ["alice", "bob"],
      all: ["alice", "bob", "carol"],
    });
  });

  test("who has got it and not acknowledged it, if it asks for that", async () => {
    using context = await setUp({ ...unhurried, until: "acknowledged" });
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    const { server_mid } = await org.sent("alice", { cid, body: "hello" });
    await bob.next();
    await alice.next();
    await alice.request("ack", { ids: [server_mid] });
    const [first] = await receiver.first(1);
    expect(dataOf(first?.webhook).unreached).toEqual([
      { uid: "bob", reason: "unacknowledged" },
      { uid: "carol", reason: "offline" },
    ]);
  });

  test("nothing of a message that was taken back, and the new text of one that was edited", async () => {
    using context = await setUp(unhurried);
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob"]);
    const gone = await org.sent("alice", { cid, body: "gone" });
    const changed = await org.sent("alice", { cid, body: "before" });
    await org.recalled("alice", cid, gone.server_mid);
    await org.edited("alice", { id: changed.server_mid, body: "after" });
    const [only] = await receiver.first(1);
    expect(only?.webhook).toMatchObject({ data: { message: { _id: changed.server_mid, body: "after" } } });
  });

  test("nothing about a system message that was taken back", async () => {
    using context = await setUp({ ...unhurried, events: ["system_message.unreached"] });
    const { org, receiver } = context;
    for (const uid of ["alice", "bob"]) await org.user(uid);
    await org.sentSystem("alice", { id: "gone", uids: ["bob"] });
    await org.sentSystem("alice", { id: "kept", uids: ["bob"] });
    await org.recalledSystem("alice", "gone");
    const [only] = await receiver.first(1);
    expect(only?.webhook).toMatchObject({ data: { system_message: { _id: "kept" } } });
  });

  test("nothing about users who were deleted or who left before it was told", async () => {
    using context = await setUp(unhurried);
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob", "carol", "dave"]);
    await org.sent("alice", { cid, body: "hello" });
    await org.leave(cid, "bob");
    await herald().admin("DELETE", org.path("users", "carol"));
    const [only] = await receiver.first(1);
    expect(namesIn(only?.webhook)).toEqual(["alice", "dave"]);
  });

  test("of many users in parts under 20 kB, each user in one, and of a long text its beginning", async () => {
    using context = await setUp();
    const { org, receiver } = context;
    const users = Array.from({ length: 1_000 }, (_, index) => `user-${index}-${"x".repeat(60)}`);
    const cid = await org.conversation([...users, "alice"]);
    await org.sent("alice", { cid, body: '"ü👋\n'.repeat(10_000), x: { kept: "x".repeat(3_000) } });
    const [first] = await receiver.first(1);
    const { parts } = dataOf(first?.webhook);
    const received = await receiver.first(parts);
    expect(received.map(({ webhook }) => dataOf(webhook).part).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: parts }, (_, index) => index + 1),
    );
    expect(received.flatMap(({ webhook }) => namesIn(webhook)).toSorted()).toEqual([...users, "alice"].toSorted());
    for (const { webhook, bytes } of received) {
      expect(bytes).toBeLessThan(20_000);
      if (webhook.type !== "message.unreached") throw new Error(webhook.type);
      const { truncated, message } = webhook.data;
      expect([truncated, message.body.startsWith('"ü👋\n"ü👋\n'), message.body.isWellFormed()]).toEqual([
        true,
        true,
        true,
      ]);
      expect(message.x).toEqual({ kept: "x".repeat(3_000) });
    }
  });
});
