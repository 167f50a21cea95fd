import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { expectClosed, type Socket } from "../../harness/clients/socket.ts";
import { eventually } from "../../harness/deadline.ts";
import { freePort } from "../../harness/engines/free-port.ts";
import { useEngines } from "../../harness/engines.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { startHerald, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const headCheckMs = 20_000; // the nodes look every five seconds, and busy machines are late

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  /** Three nodes on one database and one bus, with a listener on each. */
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

    test("report whether the bus is there, and start without it", async () => {
      const url = await postgres.createDatabase();
      const start = (bus: string) =>
        startHerald({ env: { HERALD_DATABASE_URL: url, HERALD_BUS_URL: bus, HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
      await using joined = await start(nats.url);
      await eventually(
        () => joined.logs().includes('"connected to the bus"') || undefined,
        "the word that the bus is there",
      );
      await using alone = await start(`nats://127.0.0.1:${freePort()}`);
      expect(alone.logs()).toContain('"not connected to the bus yet');
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

    test("stop delivering to a removed user at one place in the order, the same on every node", async () => {
      await using cluster = await startThree();
      const { nodes, org, cid, sockets } = cluster;
      const orgs = await Promise.all(nodes.map((node) => createOrganization(node, org.id)));
      const sends = Array.from({ length: 60 }, (_, index) =>
        orgs[index % 3]?.sent("alice", { cid, body: `message ${index}` }),
      );
      const first = await Promise.any(sends);
      await Promise.all([...sends, orgs[0]?.leave(cid, "bob")]);
      await org.sent("alice", { cid, body: "without bob" });
      await org.user("marker");
      await org.sentSystem("marker", { id: "end", uids: ["bob"] });
      const stored = (await org.history(cid)).reverse().map(({ _id }) => _id);
      const heard: (string | undefined)[][] = [];
      for (const socket of sockets) {
        const ids: (string | undefined)[] = [];
        for (let event = await socket.next(); event.system_message?._id !== "end"; event = await socket.next())
          ids.push(event.message?._id);
        heard.push(ids);
      }
      expect(stored).toHaveLength(sends.length + 1);
      expect(heard[0]).toContain(first?.server_mid);
      expect(heard[0]).not.toContain(stored.at(-1));
      for (const ids of heard) expect(ids).toEqual(stored.slice(0, heard[0]?.length));
    });

    test("sign out and remove on every node while the bus is away, by head checks", async () => {
      await using cluster = await startThree();
      const { nodes, org, cid, sockets } = cluster;
      const carols: Socket[] = [];
      for (const node of nodes) carols.push(await (await createOrganization(node, org.id)).socket("carol"));
      await org.join(cid, "carol");
      await nats.outage(async () => {
        await org.leave(cid, "bob");
        await org.sent("alice", { cid, body: "without bob" });
        for (const carol of carols) expect(await hear(carol, 1, headCheckMs)).toEqual(["without bob"]);
        for (const socket of sockets) await socket.expectSilence();
        await nodes[1]?.admin("DELETE", org.path("users", "bob", "sessions"));
        for (const socket of sockets) await expectClosed(socket, 4403, headCheckMs);
        for (const carol of carols) await carol.expectSilence();
      });
    });

    test("answer 201 while the bus is away and deliver by head checks, and at once when it is back", async () => {
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
