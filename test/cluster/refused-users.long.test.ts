import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { decodeJwt } from "jose";
import { expectClosed, openSocket, type Socket } from "../harness/clients/socket.ts";
import { useEngines } from "../harness/engines.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import type { Herald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  async function connect(node: Herald, token: string): Promise<{ socket: Socket; isTaken: boolean }> {
    const socket = await openSocket(node.url, { uid: String(decodeJwt(token).sub) });
    return { socket, isTaken: (await socket.request("connect", { token })).success === true };
  }

  // Without a bus, the other node finds the event at its head check, within 5 seconds.
  describe.each([
    ["with a bus", nats],
    ["without a bus", null],
  ])("on another node, %s,", (_, bus) => {
    test("a blocked user's connections are closed in log order, and refused until unblocked", async () => {
      await using cluster = await startCluster({ nodes: 2, postgres, nats: bus });
      const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
      const org = await createOrganization(first);
      const cid = await org.conversation(["alice", "bob"]);
      const token = await org.token("alice");
      using alice = (await connect(second, token)).socket;
      using bob = (await connect(second, await org.token("bob"))).socket;
      await org.sent("bob", { cid, body: "before" });
      await first.admin("PUT", org.path("users", "alice"), { blocked: true });
      await org.sent("bob", { cid, body: "after" });
      expect((await alice.next()).message?.body).toBe("before");
      await expectClosed(alice, 4403);
      expect(alice.events).toHaveLength(1);
      for (const body of ["before", "after"]) expect((await bob.next()).message?.body).toBe(body);
      for (const one of [token, await org.token("alice")]) {
        const { socket, isTaken } = await connect(second, one);
        expect(isTaken).toBe(false);
        await expectClosed(socket, 4403);
      }
      await second.admin("PUT", org.path("users", "alice"), { blocked: false });
      const back = await connect(first, token);
      expect(back.isTaken).toBe(true);
      back.socket.terminate();
      for (const node of [first, second]) await node.stop();
    });

    test("the connections of a revoked token are closed, and it is refused; the user's others stay", async () => {
      await using cluster = await startCluster({ nodes: 2, postgres, nats: bus });
      const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
      const org = await createOrganization(first);
      const [lost, kept] = [await org.token("alice"), await org.token("alice")];
      using closed = (await connect(second, lost)).socket;
      using open = (await connect(second, kept)).socket;
      await first.admin("DELETE", org.path("users", "alice", "tokens", String(decodeJwt(lost).jti)));
      await expectClosed(closed, 4403);
      const again = await connect(second, lost);
      expect(again.isTaken).toBe(false);
      await expectClosed(again.socket, 4401);
      await org.sentSystem("alice", { uids: ["alice"], x: { still: "here" } });
      expect((await open.next()).system_message?.x).toEqual({ still: "here" });
      for (const node of [first, second]) await node.stop();
    });
  });
}
