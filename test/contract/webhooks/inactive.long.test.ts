import { describe, expect, test } from "bun:test";
import type { Socket } from "../../harness/clients/socket.ts";
import { messageBecomes } from "../../harness/reading/reports.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import type { Received } from "../../harness/servers/receiver.ts";
import { hooksOf, startReceiver } from "../../harness/servers/receiver.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

async function setUp(settings: object = {}) {
  const org = await createOrganization(herald());
  const receiver = startReceiver();
  await hooksOf(org).toReceiver("push", receiver, settings);
  return { org, receiver, [Symbol.dispose]: () => receiver[Symbol.dispose]() };
}

async function setInactive(socket: Socket, isInactive: boolean): Promise<void> {
  expect(await socket.request("activity_status", { isInactive })).toMatchObject({ success: true });
}

/** Who was not reached by what was posted, by the body or the id of it. */
function toldIn(received: readonly Received[]): Record<string, unknown> {
  const told = received.map(({ webhook }) => {
    if (!("unreached" in webhook.data)) throw new Error("this tells of nobody");
    const { data } = webhook;
    return ["message" in data ? data.message.body : data.system_message._id, data.unreached];
  });
  return Object.fromEntries(told);
}

/** Sends a message that nobody gets: once it was posted, so was all that was sent before. */
async function sendLast(org: Organization): Promise<void> {
  const cid = await org.conversation(["last"]);
  await org.sent("last", { cid, body: "last" });
}

const last = { last: [{ uid: "last", reason: "offline" }] };
const away = (...uids: string[]) => uids.map((uid) => ({ uid, reason: "unacknowledged" }));

describe("a webhook is told of a user whose clients are all in the background", () => {
  test("from when they say so until one is back, whatever was written to them", async () => {
    using context = await setUp();
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using phone = await org.socket("bob");
    using laptop = await org.socket("bob"); // with several nodes, on another one
    const send = async (body: string) => {
      const { server_mid } = await org.sent("alice", { cid, body });
      for (const listener of [alice, phone, laptop]) expect((await listener.next()).message?.body).toBe(body);
      return server_mid;
    };
    await send("all active");
    await setInactive(phone, true);
    await send("one active");
    await setInactive(laptop, true);
    await setInactive(laptop, true);
    const mid = await send("none active");
    await setInactive(phone, false);
    await send("one back");
    await setInactive(phone, true);
    laptop.terminate();
    await laptop.closed;
    using tablet = await org.socket("bob");
    await org.sent("alice", { cid, body: "a new one" });
    for (const listener of [phone, tablet]) expect((await listener.next()).message?.body).toBe("a new one");
    await sendLast(org);
    expect(toldIn(await receiver.first(2))).toEqual({ "none active": away("bob"), ...last });
    await messageBecomes(org, mid, { delivered_users: 2, delivered_connections: 3 });
  });

  test("unless the user acknowledges it", async () => {
    using context = await setUp({ wait_seconds: 3 }); // in which the acknowledgement has to arrive
    const { org, receiver } = context;
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    for (const socket of [bob, carol]) await setInactive(socket, true);
    const { server_mid } = await org.sent("bob", { cid, body: "hello" });
    await carol.next();
    await carol.request("ack", { ids: [server_mid] });
    const [first] = await receiver.first(1);
    expect(toldIn(first === undefined ? [] : [first])).toEqual({
      hello: [{ uid: "alice", reason: "offline" }, ...away("bob")],
    });
  });

  test("about system messages to users, to a conversation that was joined meanwhile, and to everyone", async () => {
    using context = await setUp({ events: ["system_message.unreached"] });
    const { org, receiver } = context;
    await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    await setInactive(bob, true);
    const room = await org.conversation(["alice", "bob"]);
    await org.sentSystem("alice", { id: "list", uids: ["alice", "bob"] });
    await org.sentSystem("alice", { id: "room", cid: room });
    await org.sentSystem("alice", { id: "all", everyone: true });
    for (const socket of [alice, bob])
      for (const id of ["list", "room", "all"]) expect((await socket.next()).system_message?._id).toBe(id);
    const told = toldIn(await receiver.first(3));
    expect(told).toEqual({ list: away("bob"), room: away("bob"), all: away("bob") });
  });

  test("in a conversation of many, each as often as it is so", async () => {
    using context = await setUp();
    const { org, receiver } = context;
    const uids = Array.from({ length: 20 }, (_, index) => `u${String(index).padStart(2, "0")}`);
    const cid = await org.conversation(uids);
    const sockets = await Promise.all(uids.map((uid) => org.socket(uid)));
    const of = (parity: number) => uids.filter((_, index) => index % 2 === parity);
    for (const [index, socket] of sockets.entries()) if (index % 2 === 0) await setInactive(socket, true);
    await org.sent("u00", { cid, body: "even" });
    for (const socket of sockets) await socket.next();
    for (const [index, socket] of sockets.entries()) await setInactive(socket, index % 2 === 1);
    await org.sent("u00", { cid, body: "odd" });
    for (const socket of sockets) await socket.next();
    await sendLast(org);
    const told = toldIn(await receiver.first(3));
    expect(told).toEqual({ even: away(...of(0)), odd: away(...of(1)), ...last });
    for (const socket of sockets) socket.close();
  });
});
