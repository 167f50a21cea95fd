import { randomUUID } from "node:crypto";
import { connect } from "@nats-io/transport-node";
import { SQL } from "bun";
import { logSubject } from "../../src/bus/subjects.ts";
import type { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/deadline.ts";
import { createOrganization, type Organization } from "../harness/organization.ts";
import type { Socket } from "../harness/socket.ts";

/** What a forgery does: what must not happen, and whether it did. */
export type Forgery = { name: string; wrong: string; succeeds(cluster: Cluster): Promise<boolean> };

const repairMs = 12_000; // a head check comes every 5 s

/** An organization of its own with a conversation, and two users on the second node: one who takes part, one who does not. */
async function setUp(cluster: Cluster) {
  const org = await createOrganization(cluster.node(0).herald);
  const cid = await org.conversation(["alice"]);
  await org.user("mallory");
  await org.sent("alice", { cid, body: "before" });
  const there = await createOrganization(cluster.node(1).herald, org.id);
  const [alice, mallory] = [await there.socket("alice"), await there.socket("mallory")];
  await org.sent("alice", { cid, body: "joined" });
  await alice.next(({ message }) => message?.body === "joined");
  return {
    org,
    cid,
    alice,
    mallory,
    [Symbol.dispose]() {
      alice.terminate();
      mallory.terminate();
    },
  };
}

/** Publishes an event that nobody committed, at the next place of the organization's log, as a node would. */
async function forge(cluster: Cluster, org: Organization, event: object): Promise<void> {
  if (cluster.nats === undefined) throw new Error("the cluster has no bus");
  await using database = new SQL(cluster.postgres.asSuperuser(cluster.databaseUrl), { max: 1 });
  const [last]: { offset: string; id: string }[] =
    await database`SELECT "offset", id FROM event WHERE org = ${org.id} ORDER BY "offset" DESC LIMIT 1`;
  const place = { org: org.id, offset: Number(last?.offset) + 1, id: randomUUID(), prev: last?.id };
  const bus = await connect({ servers: cluster.nats.url });
  bus.publish(logSubject(org.id), JSON.stringify({ v: 1, ...place, ...event }));
  await bus.flush();
  await bus.close();
}

const hears = ({ frames }: Socket, body: string) => frames.some((frame) => frame.includes(`"body":"${body}"`));

/** Whether the user hears this before the repair is over. */
async function hearsInTime(socket: Socket, body: string): Promise<boolean> {
  const heard = eventually(() => hears(socket, body) || undefined, `"${body}" at ${socket.uid}`, repairMs);
  return await heard.catch(() => false);
}

/** What somebody who may publish on the bus could do (row 10). */
export const forgeries: readonly Forgery[] = [
  {
    name: "forged-membership",
    wrong: "an outsider hears what was said",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice, mallory } = scene;
      const payload = JSON.stringify({ added: ["mallory"], removed: [] });
      await forge(cluster, org, { kind: "membership", cid, payload });
      for (const body of ["first secret", "second secret"]) await org.sent("alice", { cid, body });
      await hearsInTime(alice, "second secret");
      return hears(mallory, "first secret") || hears(mallory, "second secret");
    },
  },
  {
    name: "forged-message",
    wrong: "participants hear what nobody sent",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice } = scene;
      await forge(cluster, org, {
        kind: "message",
        cid,
        payload: JSON.stringify({ message: { cid, body: "forged" } }),
      });
      await org.sent("alice", { cid, body: "real" });
      await hearsInTime(alice, "real");
      return hears(alice, "forged");
    },
  },
  {
    name: "forged-offset",
    wrong: "a message that was answered 201 is not heard",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice } = scene;
      await forge(cluster, org, { kind: "system", uids: [], payload: JSON.stringify({ system_message: {} }) });
      await org.sent("alice", { cid, body: "suppressed" });
      return !(await hearsInTime(alice, "suppressed"));
    },
  },
  {
    name: "forged-nonsense",
    wrong: "an organization is silent",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice } = scene;
      await forge(cluster, org, { kind: "membership", cid, payload: "no JSON" });
      for (const body of ["one", "two", "three"]) await org.sent("alice", { cid, body });
      return !(await hearsInTime(alice, "three"));
    },
  },
];
