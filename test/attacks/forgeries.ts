import { randomUUID } from "node:crypto";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { SQL } from "bun";
import { logSubject } from "../../src/bus/subjects.ts";
import type { Socket } from "../harness/clients/socket.ts";
import { eventually, within } from "../harness/deadline.ts";
import type { Cluster } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

/** A forgery: what must not happen, and whether it did. */
export type Forgery = { name: string; wrong: string; succeeds(cluster: Cluster): Promise<boolean> };

const repairMs = 12_000; // a head check comes every 5 s

type Inspected = Awaited<ReturnType<typeof setUp>>;

/** Creates an organization with a conversation, and two users on the second node: a participant and another. */
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
    there,
    cid,
    alice,
    mallory,
    [Symbol.dispose]() {
      alice.terminate();
      mallory.terminate();
    },
  };
}

type Place = { org: string; offset: number; id: string; prev: string | undefined };

async function publish(cluster: Cluster, place: Place, event: object): Promise<void> {
  const bus = await listen(cluster);
  bus.publish(logSubject(place.org), JSON.stringify({ v: 1, ...place, ...event }));
  await bus.flush();
  await bus.close();
}

function listen({ nats }: Cluster): Promise<NatsConnection> {
  if (nats === undefined) throw new Error("the cluster has no bus");
  return connect({ servers: nats.url });
}

/** Publishes an event that nobody committed, at the next place of the organization's log, like a node. */
async function forge(cluster: Cluster, { id: org }: Organization, event: object): Promise<void> {
  await using database = new SQL(cluster.postgres.asSuperuser(cluster.databaseUrl), { max: 1 });
  const [last]: { offset: string; id: string }[] =
    await database`SELECT "offset", id FROM event WHERE org = ${org} ORDER BY "offset" DESC LIMIT 1`;
  await publish(cluster, { org, offset: Number(last?.offset) + 1, id: randomUUID(), prev: last?.id }, event);
}

/**
 * Sends a system message that is too large for the bus, which carries only its place, and at once tells the nodes that
 * something else stands there. Nothing that follows contradicts it. Returns the id of the system message, which was
 * answered 201.
 */
async function usurp(cluster: Cluster, org: Organization, event: object): Promise<string> {
  const bus = await listen(cluster);
  const { promise: usurped, resolve } = Promise.withResolvers<void>();
  bus.subscribe(logSubject(org.id), {
    callback(_error, message) {
      const { payload, ...place }: Place & { payload?: string } = message.json();
      if (payload !== undefined) return;
      bus.publish(message.subject, JSON.stringify({ ...place, ...event }));
      resolve();
    },
  });
  await bus.flush();
  const absent = Array.from({ length: 8_000 }, (_, index) => `${"somebody who is not there, ".repeat(4)}${index}`);
  const { mid } = await org.sentSystem("alice", { uids: ["alice", ...absent] });
  await within(usurped, "the place of a large event on the bus");
  await bus.flush();
  await bus.close();
  return mid;
}

const hears = ({ frames }: Socket, body: string) => frames.some((frame) => frame.includes(`"body":"${body}"`));

/** Whether the user hears this before a repair would be over. */
async function hearsInTime(socket: Socket, body: string): Promise<boolean> {
  const heard = eventually(() => hears(socket, body) || undefined, `"${body}" at ${socket.uid}`, repairMs);
  return await heard.catch(() => false);
}

/** Whether the user hears nothing more, on this connection or, if it was closed, on a new one. */
async function isSilenced({ org, there, cid, alice }: Inspected): Promise<boolean> {
  await org.sent("alice", { cid, body: "one" });
  const closed = alice.closed.then(() => "closed" as const);
  const outcome = await Promise.race([hearsInTime(alice, "one"), closed]);
  if (outcome === true) return false;
  if (outcome === false) return true;
  using again = await there.socket("alice");
  await org.sent("alice", { cid, body: "two" });
  return !(await hearsInTime(again, "two"));
}

const letMalloryIn = (cid: string) => ({
  kind: "membership",
  cid,
  payload: JSON.stringify({ added: ["mallory"], removed: [] }),
});

/** A membership change with this payload, which no node could play. */
function silencing(name: string, payload: string): Forgery {
  return {
    name,
    wrong: "an organization is silent",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      await forge(cluster, scene.org, { kind: "membership", cid: scene.cid, payload });
      return await isSilenced(scene);
    },
  };
}

/** What someone who may publish on the bus could do (row 10). */
export const forgeries: readonly Forgery[] = [
  {
    name: "forged-membership",
    wrong: "an outsider hears what was said",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice, mallory } = scene;
      await usurp(cluster, org, letMalloryIn(cid));
      await org.sent("alice", { cid, body: "secret" });
      await hearsInTime(alice, "secret");
      return hears(mallory, "secret");
    },
  },
  {
    name: "forged-offset",
    wrong: "what was answered 201 is not heard",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice } = scene;
      const mid = await usurp(cluster, org, { kind: "system", uids: [], payload: '{"system_message":{}}' });
      await org.sent("alice", { cid, body: "after it" });
      await hearsInTime(alice, "after it");
      return !alice.frames.some((frame) => frame.includes(mid));
    },
  },
  {
    name: "forged-message",
    wrong: "participants hear what nobody sent",
    async succeeds(cluster) {
      using scene = await setUp(cluster);
      const { org, cid, alice } = scene;
      const payload = JSON.stringify({ message: { cid, body: "forged" } });
      await forge(cluster, org, { kind: "message", cid, payload });
      await isSilenced(scene);
      return hears(alice, "forged");
    },
  },
  silencing("forged-nonsense", "no JSON"),
  silencing("forged-members", "null"),
];
