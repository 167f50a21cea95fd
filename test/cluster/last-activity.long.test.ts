import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openSamaClient } from "../harness/clients/sama-client.ts";
import { useEngines } from "../harness/engines.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;
  const subscribe = "user_last_activity_subscribe";

  describe("user_last_activity_subscribe on three nodes", () => {
    test("tells that the user has come on one node, moved to another, and left the last; also of a node that dies", async () => {
      await using cluster = await startCluster({ nodes: 3, postgres, nats });
      const one = await createOrganization(cluster.node(0).herald);
      const [two, three] = [
        await createOrganization(cluster.node(1).herald, one.id),
        await createOrganization(cluster.node(2).herald, one.id),
      ];
      await one.conversation(["alice", "bob"]);
      using alice = await openSamaClient(one, "alice");
      using other = await openSamaClient(three, "alice");
      for (const client of [alice, other]) {
        const { bob = 0 } = await client.request(subscribe, { id: "bob" }, "last_activity");
        expect(bob).toBeGreaterThan(0);
      }
      const becomes = async (activity: number) => {
        for (const client of [alice, other])
          expect(await client.socket.next()).toEqual({ last_activity: { bob: activity } });
      };
      const first = await two.socket("bob");
      await becomes(0);
      const second = await three.socket("bob");
      first.terminate();
      await first.closed;
      await one.expectNothingElse(alice.socket, other.socket);
      second.terminate();
      await becomes(1);
      using _third = await two.socket("bob");
      await becomes(0);
      await cluster.node(1).kill();
      for (const client of [alice, other]) {
        const { last_activity } = await client.socket.next(undefined, "the end of a node's users", 60_000);
        expect(last_activity).toEqual({ bob: 1 });
      }
    });
  });
}
