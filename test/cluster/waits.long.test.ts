import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { acknowledging, counts, sendSystemWaiting, sendWaiting, told } from "../harness/clients/waiting.ts";
import { eventually } from "../harness/deadline.ts";
import { useEngines } from "../harness/engines.ts";
import { messageBecomes } from "../harness/reading/reports.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  /** Starts three nodes that know of one another, with one organization as seen from each. */
  const start = async () => {
    const cluster = await startCluster({ nodes: 3, postgres, nats });
    const first = await createOrganization(cluster.node(0).herald);
    const seenBy = (index: number) => createOrganization(cluster.node(index).herald, first.id);
    const orgs: [Organization, Organization, Organization] = [first, await seenBy(1), await seenBy(2)];
    const begunAt = Date.now();
    await eventually(async () => {
      const { items } = (await first.herald.admin<{ items: { reported_at: string }[] }>("GET", "/admin/nodes")).body;
      return items.length === 3 && items.every((node) => Date.parse(node.reported_at) > begunAt) ? true : undefined;
    }, "every node to look at the others");
    return { cluster, orgs, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
  };

  /** Takes the next message of a socket and acknowledges it. */
  const acknowledge = async (socket: Awaited<ReturnType<Organization["socket"]>>) => {
    const { message } = await socket.next(({ message }) => message !== undefined);
    await socket.request("ack", { ids: [message?._id] });
    return message?._id ?? "";
  };

  describe("a send with Prefer: wait on three nodes", () => {
    test("counts each user once, on any number of nodes, and is answered as soon as nothing need be awaited", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const cid = await one.conversation(["alice", "bob", "carol", "dave", "erin"]);
      using b1 = await acknowledging(one, "bob");
      using b2 = await acknowledging(two, "bob");
      using c3 = await acknowledging(three, "carol");
      using _c2 = await two.sse("carol");
      using _d3 = await three.socket("dave");
      for (const from of service.orgs) {
        const answering = sendWaiting(from, { cid, body: "x" });
        const [id] = await Promise.all([b1, c3, b2].map(acknowledge));
        expect(told(await answering)).toEqual([201, "wait=20", counts(5, 3, 3, 2)]);
        await messageBecomes(from, id ?? "", { recipients: 5, delivered_users: 3, acknowledged_users: 2 });
      }
      const [system] = await Promise.all([
        sendSystemWaiting(two, { id: "s", uids: ["bob", "dave", "erin", "nobody"] }),
        ...[b1, b2].map(async (socket) => {
          await socket.next(({ system_message: system }) => system?._id === "s");
          await socket.request("ack", { ids: ["s"] });
        }),
      ]);
      expect(told(system)).toEqual([201, "wait=20", counts(4, 2, 2, 1)]);
    });

    test("counts exactly among many users, most of them on several nodes", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const uids = Array.from({ length: 60 }, (_, index) => `${"é ".repeat(50)}${index}`);
      const cid = await one.conversation(["alice", ...uids]);
      const connect = (org: Organization, from: number, to: number) =>
        Promise.all(uids.slice(from, to).map((uid) => org.socket(uid)));
      const sockets = [await connect(one, 0, 30), await connect(two, 20, 50), await connect(three, 10, 60)].flat();
      expect(told(await sendWaiting(three, { cid, body: "x" }))).toEqual([201, "wait=20", counts(61, 60, 60, 0)]);
      // An event of more than half of what the bus takes: the nodes read it from the database.
      const others = Array.from({ length: 6_000 - uids.length }, (_, index) => `${"x".repeat(100)}${index}`);
      const system = await sendSystemWaiting(one, { uids: [...uids, ...others] });
      expect(told(system)).toEqual([201, "wait=20", counts(6_000, 60, 60, 0)]);
      for (const socket of sockets) socket.terminate();
    });

    test("lasts its time if a node dies meanwhile, or until that is known, and tells what was told before", async () => {
      await using service = await start();
      const [one, two, three] = service.orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      using bob = await acknowledging(two, "bob");
      using carol = await acknowledging(three, "carol");
      const began = performance.now();
      const answering = sendWaiting(one, { cid, body: "x" }, "wait=3");
      await acknowledge(carol);
      await bob.next(({ message }) => message !== undefined);
      await service.cluster.node(1).kill();
      expect(told(await answering)).toEqual([201, "wait=3", counts(3, 2, 2, 1)]);
      expect(performance.now() - began).toBeGreaterThan(2_900);
      // Once it is known that the node is gone, nobody waits for it.
      const longer = sendWaiting(one, { cid, body: "y" }, "wait=30");
      await acknowledge(carol);
      expect(told(await longer)).toEqual([201, "wait=30", counts(3, 1, 1, 1)]);
      expect(performance.now() - began).toBeLessThan(25_000);
    });

    test("lasts its time while the bus is away, counts what this node knows, and fails for nobody", async () => {
      await using service = await start();
      const [one, two] = service.orgs;
      const cid = await one.conversation(["alice", "bob", "carol"]);
      using bob = await acknowledging(one, "bob");
      using carol = await two.socket("carol");
      await nats.outage(async () => {
        const began = performance.now();
        const answering = sendWaiting(one, { cid, body: "x" }, "wait=12");
        await acknowledge(bob); // the node finds the event by its head check
        await carol.next(({ message }) => message !== undefined);
        expect(told(await answering)).toEqual([201, "wait=12", counts(3, 1, 1, 1)]);
        expect(performance.now() - began).toBeGreaterThan(11_900);
      });
      await eventually(async () => {
        const answer = await sendWaiting(one, { cid, body: "x" }, "wait=1");
        return answer.headers.get("herald-delivery") === counts(3, 2, 2, 0) ? true : undefined;
      }, "the bus to be back");
    });
  });
}
