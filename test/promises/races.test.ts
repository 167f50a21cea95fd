import { describe, expect, test } from "bun:test";
import type { Noun } from "../harness/clients/wire.ts";
import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, readList } from "../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

describe("racing changes", () => {
  test("of the directory, of membership and of messages: no 5xx, and in the end connections hear exactly what the directory says", async () => {
    const random = createRandom();
    const org = await createOrganization(herald());
    const uids = ["alice", "bob", "carol", "dave"];
    const cids = ["one", "two", "three"];
    const pick = (list: string[]) => list[random.integer(0, list.length - 1)] ?? "";
    for (const uid of uids) await org.user(uid);
    const sockets = await Promise.all(uids.map((uid) => org.socket(uid)));
    const streams = await Promise.all(uids.map((uid) => org.sse(uid)));
    const listeners = [...sockets, ...streams];

    const operations: (() => Promise<{ status: number; text: string }>)[] = [
      () =>
        herald().admin("PUT", org.path("conversations", pick(cids)), {
          participants: uids.filter(() => random.next() < 0.5),
        }),
      () => herald().admin("PUT", org.path("conversations", pick(cids)), { name: pick(uids) }),
      () => herald().admin("DELETE", org.path("conversations", pick(cids))),
      () => herald().admin("PUT", org.path("conversations", pick(cids), "participants", pick(uids))),
      () => herald().admin("PUT", org.path("conversations", pick(cids), "participants", pick(uids))),
      () => herald().admin("DELETE", org.path("conversations", pick(cids), "participants", pick(uids))),
      () => org.send(pick(uids), { cid: pick(cids), body: "x" }),
      () => org.send(pick(uids), { id: pick(uids), cid: pick(cids), body: "x" }),
      () => org.sendSystem(pick(uids), { uids: [pick(uids)] }),
    ];
    const failures: string[] = [];
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        for (let count = 0; count < 60; count += 1) {
          const answer = await (operations[random.integer(0, operations.length - 1)] ?? operations[0])?.();
          if (answer !== undefined && answer.status >= 500) failures.push(answer.text);
        }
      }),
    );
    expect({ seed: random.seed, failures }).toEqual({ seed: random.seed, failures: [] });

    // All is quiet again: everyone hears what the directory says, and no more.
    for (const cid of cids) await herald().admin("PUT", org.path("conversations", cid), {});
    const expected: Record<string, string[]> = Object.fromEntries(uids.map((uid) => [uid, []]));
    for (const cid of cids) {
      const items = await readList<string | Noun>(herald(), org.path("conversations", cid, "participants"));
      const members = items.map((item) => (typeof item === "string" ? item : item.id));
      const sender = members[0];
      if (sender === undefined) continue;
      const ask = await org.sent(sender, { cid, body: "final" });
      for (const uid of members) expected[uid]?.push(ask.server_mid);
    }
    await org.sentSystem("alice", { id: "the end", uids });
    for (const listener of listeners) {
      await listener.next((event) => event.system_message?._id === "the end", "the end");
      const finals = listener.events
        .filter((event) => event.message?.body === "final")
        .map((event) => event.message?._id);
      expect({ seed: random.seed, uid: listener.uid, finals }).toEqual({
        seed: random.seed,
        uid: listener.uid,
        finals: expected[listener.uid] ?? [],
      });
      const heard = listener.events.flatMap((event) => event.message?._id ?? []);
      expect(new Set(heard).size).toBe(heard.length);
    }
    // Two connections of one user heard the same, in the same order.
    for (const [index, socket] of sockets.entries()) expect(streams[index]?.events).toEqual(socket.events as never);
    for (const listener of listeners) listener.close();
  });

  test("of a user's sessions with connecting: a connection is either closed or was made after", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    for (let round = 0; round < 20; round += 1) {
      const token = await org.token("alice");
      const open = () => fetch(`${herald().url}/sse`, { headers: { Authorization: `Bearer ${token}` } });
      const before = await open();
      expect(before.status).toBe(200);
      const connecting = Promise.all(Array.from({ length: 5 }, open));
      await herald().admin("DELETE", org.path("users", "alice", "sessions"));
      // All tokens were issued before the sign-out: whoever got in must be thrown out.
      for (const response of [before, ...(await connecting)]) {
        expect([200, 401]).toContain(response.status);
        await within(
          response.text().catch(() => ""),
          "the end of a stream",
        );
      }
    }
  });

  test("of an organization's deletion with everything in it: no 5xx, every connection is closed", async () => {
    for (let round = 0; round < 5; round += 1) {
      const org = await createOrganization(herald());
      const cid = await org.conversation(["alice", "bob"]);
      using bob = await org.socket("bob");
      const answers = Promise.all([
        ...Array.from({ length: 20 }, () => org.send<unknown>("alice", { cid, body: "x" })),
        ...Array.from({ length: 5 }, (_, index) =>
          herald().admin<unknown>("PUT", org.path("users", `user ${index}`), {}),
        ),
        ...Array.from({ length: 5 }, (_, index) =>
          herald().admin<unknown>("PUT", org.path("conversations", `c ${index}`), { participants: ["bob"] }),
        ),
        herald().admin<unknown>("DELETE", org.path()),
        ...Array.from({ length: 20 }, () => org.send<unknown>("alice", { cid, body: "x" })),
      ]);
      for (const answer of await answers) expect([200, 201, 204, 404]).toContain(answer.status);
      await bob.closed;
    }
  });
});
