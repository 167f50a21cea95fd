import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { UserConnectionList } from "../../src/contract/presence.ts";
import { expectClosed } from "../harness/clients/socket.ts";
import type { Node, OnlineUser, Page } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  type Member = { node: Herald; org: Organization };

  /** Starts nodes on one database and one bus, each with a view of one organization. */
  async function startCluster(count: number, busUrl: string | undefined = nats.url) {
    const env = {
      HERALD_DATABASE_URL: await postgres.createDatabase(),
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
      ...(busUrl !== undefined && busUrl !== "" && { HERALD_BUS_URL: busUrl }),
    };
    const members: Member[] = [];
    while (members.length < count) {
      const node = await startHerald({ env: { ...env, HERALD_NODE_NAME: `node ${members.length + 1}` } });
      members.push({ node, org: await createOrganization(node, members[0]?.org.id) });
    }
    const [one, two, three = two] = members;
    if (one === undefined || two === undefined || three === undefined) throw new Error("two nodes are too few");
    return {
      one,
      two,
      three,
      members,
      async [Symbol.asyncDispose]() {
        for (const { node } of members) await node[Symbol.asyncDispose]();
      },
    };
  }

  const ask = <T = Page<OnlineUser>>({ node, org }: Member, query = "") =>
    node.admin<T>("GET", `${org.path("online")}${query}`);
  const idsOf = ({ items }: Page<OnlineUser>) => items.map(({ id }) => id);
  const nodesSeenBy = async ({ node }: Member) => {
    const { body } = await node.admin<{ items: Node[] }>("GET", "/admin/nodes");
    return Object.fromEntries(body.items.map((item) => [item.name, item]));
  };
  /** Waits until a member answers with these users, and until then only with others or 503. */
  const becomes = (member: Member, ids: string[]) =>
    eventually(async () => {
      const answer = await ask<unknown>(member);
      if (answer.status === 200) return idsOf(answer.body as Page<OnlineUser>);
      expectProblem(answer, 503, "unavailable");
      return undefined;
    }, "an answer of all nodes").then((heard) => expect(heard).toEqual(ids));

  describe("presence on three nodes", () => {
    test("is the same from each node: every user once, on any number of nodes and devices", async () => {
      await using cluster = await startCluster(3);
      const { one, two, three, members } = cluster;
      using _a = await one.org.socket("alice");
      using _b = await two.org.sse("alice");
      using _c = await two.org.socket("bob");
      using _d = await three.org.sse("carol");
      using _e = await three.org.socket("alice");
      const items = [
        { id: "alice", connections: 3 },
        { id: "bob", connections: 1 },
        { id: "carol", connections: 1 },
      ];
      for (const member of members) {
        expect((await ask(member)).body).toEqual({ items, cursor: null });
        expect((await ask<unknown>(member, "?count=true")).body).toEqual({ count: 3, connections: 5 });
        const asked = await ask(member, "?uids=nobody,carol,alice");
        expect(asked.body.items).toEqual([
          { id: "alice", connections: 3 },
          { id: "carol", connections: 1 },
          { id: "nobody", connections: 0 },
        ]);
      }
    });

    test("lists a user's connections on all of them, and closes one from any", async () => {
      await using cluster = await startCluster(3);
      const { one, two, three, members } = cluster;
      using _a = await one.org.socket("alice", { device_id: "a" });
      using b = await two.org.socket("alice", { device_id: "b" });
      using _c = await three.org.socket("bob");
      const connections = ({ node, org }: Member) =>
        node.admin<UserConnectionList>("GET", org.path("users", "alice", "connections"));
      const nodes = await nodesSeenBy(one);
      for (const member of members) {
        const told = (await connections(member)).body.items.map(({ node, device_id }) => [node, device_id]);
        expect(told).toEqual([
          [nodes["node 1"]?.id ?? "", "a"],
          [nodes["node 2"]?.id ?? "", "b"],
        ]);
      }
      const id = (await connections(three)).body.items[1]?.connection_id ?? "";
      const closed = await three.node.admin("DELETE", three.org.path("users", "alice", "connections", id));
      expect(closed.status).toBe(204);
      await expectClosed(b, 1012);
      await eventually(async () => (await connections(one)).body.items.length === 1 || undefined, "one is left");
    });

    test("pages over users that interleave on the nodes", async () => {
      await using cluster = await startCluster(3);
      const { members } = cluster;
      const uids = Array.from({ length: 30 }, (_, index) => `user ${String(index).padStart(2, "0")}`);
      // Every fifth is on two nodes.
      for (const [index, uid] of uids.entries()) {
        await members[index % 3]?.org.sse(uid);
        if (index % 5 === 0) await members[(index + 1) % 3]?.org.sse(uid);
      }
      const expected = uids.map((id, index) => ({ id, connections: index % 5 === 0 ? 2 : 1 }));
      for (const { node, org } of members) {
        for (const limit of [1, 4, 30, 1000])
          expect(await readList<OnlineUser>(node, org.path("online"), limit)).toEqual(expected);
      }
    });

    test("loses a node's users with the node: at once when it stops, and after a period of 503 when it is killed", async () => {
      await using cluster = await startCluster(3);
      const { one, two, three } = cluster;
      using _alice = await one.org.socket("alice");
      using _bob = await two.org.socket("bob");
      using _carol = await three.org.socket("carol");
      expect(idsOf((await ask(one)).body)).toEqual(["alice", "bob", "carol"]);
      await three.node.stop();
      expect(idsOf((await ask(one)).body)).toEqual(["alice", "bob"]);
      expect(Object.keys(await nodesSeenBy(one))).toEqual(["node 1", "node 2"]);

      await two.node.kill();
      const refused = await ask<unknown>(one);
      expectProblem(refused, 503, "unavailable");
      expect(refused.headers.get("retry-after")).toBe("1");
      await becomes(one, ["alice"]);
      expect(await nodesSeenBy(one)).toMatchObject({ "node 1": { state: "live" }, "node 2": { state: "silent" } });
    });

    test("answers in bounded time while a node is frozen, without its users, and with them when it continues", async () => {
      await using cluster = await startCluster(3);
      const { one, two } = cluster;
      using _alice = await one.org.socket("alice");
      using bob = await two.org.socket("bob");
      two.node.signal("SIGSTOP");
      expectProblem(await ask<unknown>(one), 503, "unavailable");
      await becomes(one, ["alice"]);
      two.node.signal("SIGCONT");
      await bob.expectSilence();
      const whole = async () => {
        const { status, body } = await ask(one); // 503 while the node beats again but does not answer in time yet
        return status === 200 && idsOf(body).includes("bob") ? idsOf(body) : undefined;
      };
      expect(await eventually(whole, "the frozen node's user")).toEqual(["alice", "bob"]);
      const isLive = async () => (await nodesSeenBy(one))["node 2"]?.state === "live" || undefined;
      await eventually(isLive, "the next beat of the node"); // it may answer before that
    });

    test("is 503 while the bus is away, when nodes know only their own users; the list of nodes still works", async () => {
      await using cluster = await startCluster(2);
      const { one, two, members } = cluster;
      using _alice = await one.org.socket("alice");
      using _bob = await two.org.socket("bob");
      await nats.outage(async () => {
        for (const member of members) {
          for (const query of ["", "?count=true", "?uids=alice"]) {
            const answer = await ask<unknown>(member, query);
            expectProblem(answer, 503, "unavailable");
            expect(answer.headers.get("retry-after")).toBe("1");
          }
          expect(Object.keys(await nodesSeenBy(member))).toEqual(["node 1", "node 2"]);
        }
      });
      for (const member of members) await becomes(member, ["alice", "bob"]);
    });

    test("is 503 on several nodes that no bus connects", async () => {
      await using cluster = await startCluster(2, "");
      const answer = await ask<unknown>(cluster.one);
      expectProblem(answer, 503, "unavailable");
      expect(answer.text).toContain("1 of 2 nodes did not respond");
    });
  });

  describe("the list of nodes", () => {
    test("is the same on every node, in the order in which they started", async () => {
      await using cluster = await startCluster(3);
      const { two, members } = cluster;
      using _bob = await two.org.socket("bob");
      using _again = await two.org.sse("bob");
      const reported = async (member: Member) => {
        const nodes = await nodesSeenBy(member);
        return nodes["node 2"]?.connections === 2 ? nodes : undefined;
      };
      for (const member of members) {
        const nodes = await eventually(() => reported(member), "a report of two connections");
        expect(nodes).toMatchObject({
          "node 1": { connections: 0, organizations: 0, url: cluster.one.node.url },
          "node 2": { connections: 2, organizations: 1, url: cluster.two.node.url },
          "node 3": { connections: 0, organizations: 0, url: cluster.three.node.url },
        });
        expect(Object.keys(nodes)).toEqual(["node 1", "node 2", "node 3"]);
      }
    });
  });
}
