import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OnlineUser } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { useEngines } from "../harness/engines.ts";
import { foldPresence } from "../harness/reading/presence-fold.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";

setDefaultTimeout(180_000);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;
  const mayTakeMs = 60_000; // until a node counts as dead, and until another one has taken over
  const ofNode = 200;

  type Member = { node: Herald; org: Organization };

  async function startCluster(count: number) {
    const members: Member[] = [];
    const env = {
      HERALD_DATABASE_URL: await postgres.createDatabase(),
      HERALD_BUS_URL: nats.url,
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
      HERALD_WEBHOOK_ALLOW_PRIVATE: "1",
      HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "0",
    };
    const add = async (): Promise<Member> => {
      const node = await startHerald({ env });
      const member = { node, org: await createOrganization(node, members[0]?.org.id) };
      members.push(member);
      return member;
    };
    while (members.length < count) await add();
    return {
      members,
      add,
      async [Symbol.asyncDispose]() {
        for (const { node } of members) await node[Symbol.asyncDispose]();
      },
    };
  }

  const uidsOf = (name: string) => Array.from({ length: ofNode }, (_, index) => `${name} ${index} ${"x".repeat(80)}`);

  async function connectAll({ org }: Member, uids: readonly string[]): Promise<void> {
    for (let at = 0; at < uids.length; at += 20)
      await Promise.all(uids.slice(at, at + 20).map((uid) => org.socket(uid)));
  }

  describe("the presence that a webhook is told on three nodes", () => {
    test("is one sequence, whichever nodes are killed: each user of a killed node leaves once, and who is on two stays", async () => {
      await using cluster = await startCluster(3);
      const [one, two, three] = cluster.members;
      if (one === undefined || two === undefined || three === undefined) throw new Error("too few nodes");
      using receiver = startReceiver();
      await hooksOf(one.org).toReceiver("counter", receiver, { events: ["users.presence"] });
      const uids = { one: uidsOf("one"), two: uidsOf("two"), three: uidsOf("three"), several: ["s1", "s2"] };
      await connectAll(one, [...uids.one, ...uids.several]);
      await connectAll(two, [...uids.two, ...uids.several]);
      await connectAll(three, uids.three);

      const becomes = (wanted: string[], what: string) =>
        eventually(
          () => {
            const fold = foldPresence(receiver.received);
            return JSON.stringify(fold?.online) === JSON.stringify(wanted.toSorted()) ? fold : undefined;
          },
          () => `${what}; ${foldPresence(receiver.received)?.online.length} of ${wanted.length}`,
          mayTakeMs,
        );
      const onlineOn = async ({ node, org }: Member) =>
        (await readList<OnlineUser>(node, org.path("online"), 1_000)).map(({ id }) => id).toSorted();

      await becomes(Object.values(uids).flat(), "everybody");
      await three.node.kill();
      const left = await becomes([...uids.one, ...uids.two, ...uids.several], "without the third node");
      expect(left.online).toEqual(await onlineOn(one));
      await two.node.kill();
      const last = await becomes([...uids.one, ...uids.several], "without the second node");
      expect(last.online).toEqual(await onlineOn(one));

      // Whichever node told it, it is gone now, and one that knows nothing goes on.
      const fourth = await cluster.add();
      await one.node.kill();
      const newcomers = uidsOf("four");
      await connectAll(fourth, [...newcomers, ...uids.several]);
      const { turns } = await becomes([...newcomers, ...uids.several], "on the fourth node alone");
      expect(await onlineOn(fourth)).toEqual([...newcomers, ...uids.several].toSorted());
      for (const uid of [...uids.one, ...uids.two, ...uids.three]) expect(turns.get(uid)).toBe(2);
      for (const uid of newcomers) expect(turns.get(uid)).toBe(1);
      expect(Math.max(...receiver.received.map(({ bytes }) => bytes))).toBeLessThan(20_000);
    });
  });
}
