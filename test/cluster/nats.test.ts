import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startCluster } from "../harness/cluster.ts";
import { startNats } from "../harness/nats.ts";
import { createOrganization } from "../harness/organization.ts";
import { startPostgres } from "../harness/postgres.ts";
import type { Socket } from "../harness/socket.ts";

setDefaultTimeout(60_000);

const headCheckMs = 6_000;

const postgres = await startPostgres();
const nats = await startNats();
if (postgres !== undefined && nats !== undefined) {
  afterAll(async () => {
    await nats.stop();
    postgres.stop();
  });

  /** Three nodes on one database and one bus, and a listener on each. */
  const startThree = async () => {
    const cluster = await startCluster({ nodes: 3, postgres, nats });
    const nodes = cluster.nodes.map(({ herald }) => herald);
    const org = await createOrganization(cluster.node(0).herald);
    const cid = await org.conversation(["alice", "bob"]);
    const sockets: Socket[] = [];
    for (const node of nodes) sockets.push(await (await createOrganization(node, org.id)).socket("bob"));
    return { nodes, org, cid, sockets, [Symbol.asyncDispose]: cluster[Symbol.asyncDispose] };
  };

  async function hear(socket: Socket, count: number, ms?: number): Promise<unknown[]> {
    const heard: unknown[] = [];
    while (heard.length < count) {
      const event = await socket.next(undefined, `message ${heard.length + 1} of ${count}`, ms);
      heard.push("message" in event ? event.message.body : event);
    }
    return heard;
  }

  describe("three nodes on PostgreSQL and NATS", () => {
    test("hear on each node what was sent to any, once and in one order", async () => {
      await using cluster = await startThree();
      const { nodes, org, cid, sockets } = cluster;
      const orgs = await Promise.all(nodes.map((node) => createOrganization(node, org.id)));
      const sends = Array.from({ length: 150 }, (_, index) =>
        orgs[index % 3]?.sent("alice", { cid, body: `message ${index}` }),
      );
      await Promise.all(sends);
      const heard: unknown[][] = [];
      for (const socket of sockets) heard.push(await hear(socket, sends.length));
      expect(new Set(heard[0]).size).toBe(sends.length);
      expect(heard[1]).toEqual(heard[0] ?? []);
      expect(heard[2]).toEqual(heard[0] ?? []);
      for (const socket of sockets) await socket.expectSilence();
    });

    test("follow membership and sign-out on every node", async () => {
      await using cluster = await startThree();
      const { nodes, org, cid, sockets } = cluster;
      await org.leave(cid, "bob");
      await org.join(cid, "bob");
      await org.sent("alice", { cid, body: "back" });
      for (const socket of sockets) expect(await hear(socket, 1)).toEqual(["back"]);
      await nodes[2]?.admin("DELETE", org.path("users", "bob", "sessions"));
      for (const socket of sockets) expect((await socket.closed).code).toBe(4403);
    });

    test("answer 201 while the bus is away and hear it by the head check; at once when it is back", async () => {
      await using cluster = await startThree();
      const { org, cid, sockets } = cluster;
      await nats.outage(async () => {
        await org.sent("alice", { cid, body: "without the bus" });
        for (const socket of sockets) expect(await hear(socket, 1, headCheckMs)).toEqual(["without the bus"]);
      });
      await org.sent("alice", { cid, body: "large ".repeat(10_000) });
      await org.sent("alice", { cid, body: "with it again" });
      for (const socket of sockets) {
        const [, last] = await hear(socket, 2);
        expect(last).toBe("with it again");
        await socket.expectSilence();
      }
    });
  });
}
