import { describe, expect, test } from "bun:test";
import { ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { proposing } from "../../harness/servers/proposing.ts";
import { type Answers, type HookDelivery, hooksOf, startReceiver } from "../../harness/servers/receiver.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

async function setUp(events: string[] | undefined, answers?: Answers) {
  const org = await createOrganization(herald());
  const receiver = startReceiver(answers);
  const hooks = hooksOf(org);
  const hook = await hooks.toReceiver("push", receiver, { ...(events && { events }) });
  return { org, receiver, hooks, hook, [Symbol.dispose]: () => receiver[Symbol.dispose]() };
}

const gone = () => new Response(null, { status: 410 });

describe("message.read", () => {
  test("tells who has read what, once, whether its author still takes part or not", async () => {
    using context = await setUp(["message.read"]);
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob", "carol"]);
    const first = (await org.sent("alice", { cid, body: "one" })).server_mid;
    const second = (await org.sent("carol", { cid, body: "two" })).server_mid;
    await org.leave(cid, "carol");
    await org.hasRead("bob", cid);
    await org.hasRead("bob", cid);
    const third = (await org.sent("alice", { cid, body: "three" })).server_mid;
    using bob = await org.socket("bob");
    await bob.request("message_read", { cid });
    const told = (await receiver.first(2)).map(({ webhook }) => webhook);
    const read = (ids: string[]) => ({
      id: expect.any(String),
      type: "message.read",
      timestamp: expect.stringMatching(ISO_MILLISECONDS),
      data: { organizationId: org.id, message_read: { ids, cid, from: "bob", t: expect.any(Number) } },
    });
    expect(told.toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1))).toEqual([
      read([first, second]),
      read([third]),
    ] as never);
  });

  test("is posted only to a webhook that asks for it, and can be posted again", async () => {
    using quiet = await setUp(undefined);
    expect(quiet.hook.events).toEqual(["message.unreached", "system_message.unreached"]);
    const { org } = quiet;
    using receiver = startReceiver();
    const hooks = hooksOf(org);
    await hooks.toReceiver("reads", receiver, { events: ["message.read"] });
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid } = await org.sent("alice", { cid, body: "one" });
    await org.hasRead("bob", cid);
    const [first] = await receiver.first(1);
    const [delivered] = await hooks.deliveriesWhen("reads", ([one]) => one?.state === "delivered");
    expect(delivered?.request).toMatchObject({ type: "message.read", data: { message_read: { ids: [server_mid] } } });
    await hooks.call<HookDelivery>("POST", ["reads", "deliveries", delivered?.id ?? "", "redeliver"]);
    const [, second] = await receiver.first(2);
    expect(second?.webhook).toEqual(first?.webhook as never);
    const [unreached] = await quiet.receiver.first(1);
    expect(unreached?.webhook.type).toBe("message.unreached");
    expect(await hooks.deliveries("push")).toHaveLength(1);
  });
});

describe("scheduled.failed", () => {
  test("tells which scheduled send was refused, with the problem that it shows", async () => {
    using context = await setUp(["scheduled.failed"]);
    const { org, receiver } = context;
    const { put, ended, messageOf } = scheduling(org);
    const cid = await org.conversation(["alice", "bob"]);
    const send_at = new Date(Date.now() + 4_000).toISOString();
    expect((await put("left", { send_at, request: messageOf("bob", { cid, body: "x" }) })).status).toBe(201);
    expect((await put("fine", { send_at, request: messageOf("alice", { cid, body: "y" }) })).status).toBe(201);
    await org.leave(cid, "bob");
    const [first] = await receiver.first(1);
    const { problem } = await ended("left");
    expect(problem).toMatchObject({ code: "sender_not_participant" });
    expect(first?.webhook).toMatchObject({
      type: "scheduled.failed",
      data: { organizationId: org.id, scheduled: { id: "left", send_at, problem } },
    } as never);
    await ended("fine");
    expect(receiver.received).toHaveLength(1);
  });
});

describe("proposal.waiting", () => {
  test("tells that a proposal waits, once, and nothing that it says", async () => {
    using context = await setUp(["proposal.waiting"]);
    const { org, receiver } = context;
    const { put, approve, messageOf, systemOf } = proposing(org);
    const cid = await org.conversation(["alice", "bob"]);
    const { id: proposed_by, key } = await createKey(herald(), { scopes: ["message:propose"] });
    const wish = { request: messageOf("alice", { cid, body: "x" }), reason: "why" };
    for (let again = 0; again < 2; again++) await put("one", wish, key);
    await approve("one");
    await put("two", { request: systemOf("bob", { uids: ["alice"] }) }, key);
    const told = (await receiver.first(2)).map(({ webhook }) => webhook);
    expect(told.toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1))).toEqual(
      [
        { id: "one", senderId: "alice", cid },
        { id: "two", senderId: "bob", cid: null },
      ].map((proposal) => ({
        id: expect.any(String),
        type: "proposal.waiting",
        timestamp: expect.stringMatching(ISO_MILLISECONDS),
        data: {
          organizationId: org.id,
          proposal: { ...proposal, proposed_by, expires_at: expect.stringMatching(ISO_MILLISECONDS) },
        },
      })) as never,
    );
    expect(await context.hooks.deliveries("push")).toHaveLength(2);
  });
});

describe("message.undeliverable", () => {
  test("tells another webhook what a receiver did not take, and nobody of its own failures", async () => {
    using failing = await setUp(["message.unreached", "message.undeliverable"], gone);
    const { org, hooks } = failing;
    using watching = startReceiver(gone);
    await hooks.toReceiver("watch", watching, { events: ["message.undeliverable"] });
    const cid = await org.conversation(["alice"]);
    const { server_mid } = await org.sent("alice", { cid, body: "hello" });
    const [first] = await watching.first(1);
    const [failed] = await hooks.deliveriesWhen("push", ([one]) => one?.state === "failed");
    expect(first?.webhook).toMatchObject({
      type: "message.undeliverable",
      data: {
        organizationId: org.id,
        undeliverable: {
          webhook: "push",
          delivery: failed?.id ?? "",
          type: "message.unreached",
          id: server_mid,
          tries: 1,
          status: 410,
          error: "the receiver answered 410",
        },
      },
    });
    await hooks.deliveriesWhen("watch", ([one]) => one?.state === "failed");
    expect(await hooks.deliveries("watch")).toHaveLength(1);
    expect(await hooks.deliveries("push")).toHaveLength(1);
  });
});
