import { describe, expect, test } from "bun:test";
import type { OnlineUser } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { type Fold, foldPresence } from "../../harness/reading/presence-fold.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";
import { type Hook, hooksOf, type Receiver, startReceiver } from "../../harness/servers/receiver.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1", HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "0" } });
const settings = { events: ["users.presence"] };

async function setUp() {
  const org = await createOrganization(herald());
  const receiver = startReceiver();
  return { org, receiver, hooks: hooksOf(org), [Symbol.dispose]: () => receiver[Symbol.dispose]() };
}

/** What was told once exactly these are online by it. */
async function told(receiver: Receiver, uids: string[]): Promise<Fold> {
  const wanted = JSON.stringify(uids.toSorted());
  return await eventually(
    () => {
      const fold = foldPresence(receiver.received);
      return fold !== undefined && fold.parts > 0 && JSON.stringify(fold.online) === wanted ? fold : undefined;
    },
    () => `${uids.length} users, not ${foldPresence(receiver.received)?.online.length}`,
  );
}

const onlineOf = async (org: Organization) =>
  (await readList<OnlineUser>(herald(), org.path("online"), 1_000)).map(({ id }) => id);

describe("users.presence", () => {
  test("begins with who is online, also if that is nobody, and then tells who comes and who goes", async () => {
    using context = await setUp();
    const { org, receiver, hooks } = context;
    await hooks.toReceiver("counter", receiver, settings);
    const [first] = await receiver.first(1);
    expect(first?.webhook).toEqual({
      id: expect.stringMatching(UUID_V7),
      type: "users.presence",
      timestamp: expect.stringMatching(ISO_MILLISECONDS),
      data: { organizationId: org.id, online: [], offline: [], seq: 1 },
    } as never);
    using _alice = await org.socket("alice");
    const bob = await org.socket("bob");
    await told(receiver, ["alice", "bob"]);
    using later = startReceiver();
    await hooks.toReceiver("later", later, settings);
    expect((await told(later, ["alice", "bob"])).parts).toBe(1);
    bob.close();
    for (const one of [receiver, later]) {
      const { turns } = await told(one, ["alice"]);
      expect(Object.fromEntries(turns)).toEqual({ alice: 1, bob: 2 });
    }
    expect(await onlineOf(org)).toEqual(["alice"]);
  });

  test("counts a user once over all connections, and does not tell of one who returns within the grace", async () => {
    using context = await setUp();
    const { org, receiver, hooks } = context;
    await hooks.toReceiver("counter", receiver, { ...settings, wait_seconds: 8 });
    const phone = await org.socket("alice");
    await told(receiver, ["alice"]);
    const laptop = await org.sse("alice");
    phone.close();
    using _marker = await org.socket("marker");
    await told(receiver, ["alice", "marker"]);
    await laptop.close();
    using _bob = await org.socket("bob");
    await told(receiver, ["alice", "bob", "marker"]);
    using alice = await org.socket("alice");
    using _carol = await org.socket("carol");
    const { turns } = await told(receiver, ["alice", "bob", "carol", "marker"]);
    expect(turns.get("alice")).toBe(1);
    alice.close();
    expect((await told(receiver, ["bob", "carol", "marker"])).turns.get("alice")).toBe(2);
  });

  test("goes on by the same numbers after it was switched off, and tells what has changed meanwhile", async () => {
    using context = await setUp();
    const { org, receiver, hooks } = context;
    await hooks.toReceiver("counter", receiver, settings);
    const alice = await org.socket("alice");
    const { parts } = await told(receiver, ["alice"]);
    const put = (events: string[]) =>
      hooks.call<Hook>("PUT", ["counter"], { url: receiver.url, wait_seconds: 1, events });
    expect((await put(["message.read"])).status).toBe(200);
    alice.close();
    using _bob = await org.socket("bob");
    expect((await put(["users.presence"])).status).toBe(200);
    expect((await told(receiver, ["bob"])).parts).toBeGreaterThan(parts);
  });

  test("tells of many who come and go at once in parts under 20 kB, each user once", async () => {
    using context = await setUp();
    const { org, receiver, hooks } = context;
    await hooks.toReceiver("counter", receiver, settings);
    const uids = Array.from({ length: 1_200 }, (_, index) => `${index} ${"ü".repeat(40)}`);
    const sockets: { close(): void }[] = [];
    // Ten at a time: with more, a busy database refuses calls that have waited for too long.
    while (sockets.length < uids.length)
      sockets.push(
        ...(await Promise.all(uids.slice(sockets.length, sockets.length + 10).map((uid) => org.socket(uid)))),
      );
    const all = await told(receiver, uids);
    expect(await onlineOf(org)).toEqual(all.online.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    for (const socket of sockets) socket.close();
    const { turns, parts } = await told(receiver, []);
    expect([...new Set(turns.values())]).toEqual([2]);
    expect(turns.size).toBe(uids.length);
    expect(Math.max(...receiver.received.map(({ bytes }) => bytes))).toBeWithin(15_000, 20_000);
    expect(parts - all.parts).toBeGreaterThan(5);
  });
});
