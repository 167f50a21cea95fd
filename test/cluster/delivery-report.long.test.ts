import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { DryRun } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { useEngines } from "../harness/engines.ts";
import { messageBecomes, reportOf, systemMessageBecomes } from "../harness/reading/reports.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  /** Starts three nodes, with one organization as seen from each. */
  const start = async () => {
    const cluster = await startCluster({ nodes: 3, postgres, nats });
    const first = await createOrganization(cluster.node(0).herald);
    const seenBy = (index: number) => createOrganization(cluster.node(index).herald, first.id);
    const orgs: [Organization, Organization, Organization] = [first, await seenBy(1), await seenBy(2)];
    return { cluster, orgs, nats, postgres, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
  };

  describe("a delivery report on three nodes", () => {
    test("is the same from each node: every user once, on any number of nodes, and every connection", async () => {
      await using service = await start();
      const { orgs } = service;
      const [one, two, three] = orgs;
      const uids = ["alice", "bob", "carol", "dave"];
      const cid = await one.conversation(uids);
      using _b1 = await one.socket("bob");
      using _b2 = await two.socket("bob");
      using _b3 = await three.sse("bob");
      using _c = await three.socket("carol");
      const { server_mid } = await two.sent("alice", { cid, body: "x" });
      await one.sentSystem("alice", { id: "s-1", uids: ["bob", "carol", "dave", "nobody"] });
      const figures = { delivered_users: 2, delivered_connections: 4 };
      for (const org of orgs) {
        const report = await messageBecomes(org, server_mid, { recipients: 4, ...figures });
        expect(report).toEqual(await reportOf(one, server_mid));
        const by_user = { bob: "delivered", carol: "delivered", dave: "offline", nobody: "unknown" };
        await systemMessageBecomes(org, "s-1", { recipients: 4, ...figures, by_user });
      }
    });

    test("counts who heard a system message to a conversation or to everyone, on any node", async () => {
      await using service = await start();
      const { orgs } = service;
      const [one, two, three] = orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      for (const uid of ["dave", "erin"]) await one.user(uid);
      using bob = await one.socket("bob");
      using again = await two.socket("bob");
      using carol = await two.sse("carol");
      using dave = await three.socket("dave");
      await three.sentSystem("alice", { id: "to c", cid });
      await two.sentSystem("alice", { id: "to all", everyone: true });
      for (const listener of [bob, again, carol])
        expect((await listener.next()).system_message).toMatchObject({ _id: "to c", cid });
      for (const listener of [bob, again, carol, dave])
        expect((await listener.next()).system_message?._id).toBe("to all");
      await bob.request("ack", { ids: ["to c", "to all"] });
      await again.request("ack", { ids: ["to all"] });
      await dave.request("ack", { ids: ["to c", "to all"] });
      for (const org of orgs) {
        const toConversation = { recipients: 3, delivered_users: 2, delivered_connections: 3, acknowledged_users: 1 };
        await systemMessageBecomes(org, "to c", toConversation);
        const toAll = { recipients: 5, delivered_users: 3, delivered_connections: 4, acknowledged_users: 2 };
        await systemMessageBecomes(org, "to all", toAll);
      }
      await one.expectNothingElse(bob, again, carol, dave);
    });

    test("is right for large audiences on each node, with users in common", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const uids = Array.from({ length: 60 }, (_, index) => `user ${index}`);
      const cid = await one.conversation(["alice", ...uids]);
      const connect = (org: Organization, from: number, to: number) =>
        Promise.all(uids.slice(from, to).map((uid) => org.socket(uid)));
      const sockets = [await connect(one, 0, 30), await connect(two, 20, 50), await connect(three, 0, 60)];
      const { server_mid } = await one.sent("alice", { cid, body: "x" });
      await messageBecomes(one, server_mid, { recipients: 61, delivered_users: 60, delivered_connections: 120 });
      for (const socket of sockets.flat()) socket.terminate();
    });

    test("counts a user once who heard it on one node, returned to it on another, and acknowledged it on both", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      const first = await one.sent("alice", { cid, body: "first" });
      using bob = await one.socket("bob");
      const second = await one.sent("alice", { cid, body: "second" });
      await bob.next();
      await bob.request("ack", { ids: [second.server_mid] });
      bob.terminate();
      using again = await two.socket("bob", { since: first.server_mid });
      await again.next();
      await again.request("ack", { ids: [second.server_mid] });
      using carol = await three.sse("carol", { lastEventId: first.server_mid });
      await carol.next();
      await messageBecomes(three, second.server_mid, {
        recipients: 3,
        delivered_users: 2,
        delivered_connections: 3,
        acknowledged_users: 1,
      });
      await messageBecomes(three, first.server_mid, { delivered_users: 0, delivered_connections: 0 });
    });

    test("includes what a gone node had recorded, whether it was stopped or killed after it was seen", async () => {
      await using service = await start();
      const { cluster, orgs } = service;
      const [one, two, three] = orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      using _bob = await two.socket("bob");
      using carol = await three.socket("carol");
      const first = await one.sent("alice", { cid, body: "first" });
      await messageBecomes(one, first.server_mid, { delivered_users: 2 });
      await cluster.node(1).kill();
      const second = await one.sent("alice", { cid, body: "second" });
      await carol.next(({ message }) => message?.body === "second");
      await cluster.node(2).stop(); // at once, before what it played last is recorded
      await messageBecomes(one, first.server_mid, { delivered_users: 2, delivered_connections: 2 });
      await messageBecomes(one, second.server_mid, { delivered_users: 1, delivered_connections: 1 });
    });

    test("lacks nothing played while the bus was away, or before the database was", async () => {
      await using service = await start();
      const { orgs } = service;
      const [one, two] = orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      using bob = await two.socket("bob");
      await service.nats.outage(async () => {
        const { server_mid } = await one.sent("alice", { cid, body: "without a bus" });
        await bob.next();
        await messageBecomes(one, server_mid, { delivered_users: 1, delivered_connections: 1 });
      });
      const last = await one.sent("alice", { cid, body: "just before" });
      await bob.next();
      await service.postgres.restart(async () => undefined);
      await eventually(async () => {
        const report = await reportOf(one, last.server_mid).catch(() => undefined); // 503 until the database is back
        return report?.delivery.delivered_connections === 1 || undefined;
      }, "the delivery to be written down");
    });
  });

  describe("a dry run on three nodes", () => {
    test("counts users online on any node, each once", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const cid = await one.conversation(["alice", "bob", "carol", "dave"]);
      using _b1 = await one.socket("bob");
      using _b2 = await two.socket("bob");
      using _c = await three.sse("carol");
      const envelope = { organizationId: one.id, senderId: "alice" };
      for (const { herald } of service.orgs) {
        const message = await herald.admin<DryRun>("POST", "/admin/message?dry_run=true", {
          ...envelope,
          message: { cid, body: "x" },
        });
        expect(message.body).toEqual({ dry_run: { recipients: 4, online: 2, unknown_users: [] } });
        const system = await herald.admin<DryRun>("POST", "/admin/message/system?dry_run=true", {
          ...envelope,
          messageSystem: { uids: ["bob", "nobody"] },
        });
        expect(system.body).toEqual({ dry_run: { recipients: 2, online: 1, unknown_users: ["nobody"] } });
      }
    });

    test("is 503 if a node does not answer, like presence", async () => {
      await using service = await start();
      const [one] = service.orgs;
      const cid = await one.conversation(["alice"]);
      await service.nats.outage(async () => {
        const answer = await one.herald.admin("POST", "/admin/message?dry_run=true", {
          organizationId: one.id,
          senderId: "alice",
          message: { cid, body: "x" },
        });
        expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
      });
    });
  });
}
