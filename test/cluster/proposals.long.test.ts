import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { useEngines } from "../harness/engines.ts";
import { type Cluster, startCluster } from "../harness/servers/cluster.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";

setDefaultTimeout(120_000);

const through = (cluster: Cluster, index: number, { id }: Organization) =>
  createOrganization(cluster.node(index).herald, id);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  describe("proposals that several approve at once on three nodes", () => {
    test.each([0, 10, 40])("are sent once if one of the nodes is killed %p ms later", async (afterMs) => {
      await using cluster = await startCluster({ nodes: 3, postgres, nats });
      const org = await createOrganization(cluster.node(0).herald);
      const cid = await org.conversation(["alice", "bob"]);
      const nodes = [org, await through(cluster, 1, org), await through(cluster, 2, org)].map(proposing);
      const [first, second, third] = nodes;
      if (first === undefined || second === undefined || third === undefined) throw new Error("three nodes");
      using bob = await (await through(cluster, 2, org)).socket("bob");
      const { key: agent } = await createKey(cluster.node(0).herald, { scopes: ["message:propose"] });
      const keys = await Promise.all(
        [1, 2].map(() => createKey(cluster.node(1).herald, { scopes: ["message:send", "history:read"] })),
      );
      const ids = Array.from({ length: 40 }, (_, index) => `p${index}`);
      const puts = await Promise.all(
        ids.map((id) => first.put(id, { request: first.messageOf("alice", { cid, body: id }) }, agent)),
      );
      expect(puts.every(({ status }) => status === 201)).toBe(true);
      const approvals = ids.flatMap((id) =>
        nodes.flatMap(({ approve }) => keys.map(({ key }) => approve(id, key).catch(() => undefined))),
      );
      await Bun.sleep(afterMs);
      await cluster.node(0).kill();
      const answers = (await Promise.all(approvals)).filter((answer) => answer !== undefined);
      const told = new Map(
        answers.filter(({ status }) => status === 200).map(({ body }) => [body.id, body.server_mid]),
      );
      const approved = await Promise.all(ids.map((id) => second.approve(id, keys[0]?.key)));
      const mids = approved.map(({ body }) => [body.id, body.server_mid ?? ""]);
      expect(approved.map(({ body }) => body.state)).toEqual(ids.map(() => "approved"));
      for (const [id, mid] of told) expect(mids).toContainEqual([id, mid ?? ""]);
      const history = await (await through(cluster, 1, org)).history(cid);
      expect(history.map(({ body, _id }) => [body, _id]).toSorted()).toEqual(mids.toSorted());
      const heard: (string | undefined)[] = [];
      while (heard.length < ids.length) heard.push((await bob.next()).message?.body);
      expect(heard.toSorted()).toEqual(ids.toSorted());
      await (await through(cluster, 2, org)).expectNothingElse(bob);
      expect((await third.get("p0", keys[1]?.key)).body.decided_by).toBeOneOf(keys.map(({ id }) => id));
    });
  });
}
