// Measures what a webhook is told when nodes with very many users die: `exec bun bench/presence-nodes.ts --users 50000 --killed 3`
// starts nodes on PostgreSQL and NATS, holds a connection for each user on all but one, and kills these at once. A process may
// have 20,000 open files here, so that more users than that need several nodes. It prints the parts, how long they took, the
// memory of the node that is left, and whether the fold of all parts is what `/online` says.
import { parseArgs } from "node:util";
import { foldPresence } from "../test/harness/reading/presence-fold.ts";
import { startCluster } from "../test/harness/servers/cluster.ts";
import { createOrganization } from "../test/harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../test/harness/servers/receiver.ts";
import { startHelper } from "./harness/helper.ts";
import { tokenSecret } from "./harness/herald.ts";
import { memoryOf, peakMemoryOf } from "./harness/meter.ts";
import { percentile } from "./harness/report/statistics.ts";
import { beginSending } from "./harness/steady-sends.ts";
import type { IdleClientsOrder } from "./processes/idle-clients.ts";

const { values } = parseArgs({
  options: { users: { type: "string", default: "50000" }, killed: { type: "string", default: "3" } },
});
const users = Number(values.users);
const killed = Number(values.killed);
const staying = 1_000;
const sendEveryMs = 10;
const waitSeconds = 1;

const describe = (took: number[]) => [0.5, 0.99, 1].map((share) => percentile(took, share).toFixed(1)).join(" / ");
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
const uidOf = (index: number) => `user-${String(index).padStart(8, "0")}`;

await using cluster = await startCluster({
  nodes: killed + 1,
  env: () => ({
    HERALD_TOKEN_SECRET: tokenSecret,
    HERALD_WEBHOOK_ALLOW_PRIVATE: "1",
    HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "0",
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  }),
});
if (cluster === undefined) throw new Error("this needs PostgreSQL and NATS");
const left = cluster.node(killed);
const org = await createOrganization(left.herald);
const other = await createOrganization(left.herald);
const cid = await other.conversation(["alice"]);
using receiver = startReceiver();
await hooksOf(org).toReceiver("counter", receiver, { events: ["users.presence"], wait_seconds: waitSeconds });

/** Waits until the fold has so many users. */
async function folded(count: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const fold = foldPresence(receiver.received);
    if (fold?.online.length === count) return fold.parts;
    if (performance.now() - startedAt > 180_000)
      throw new Error(`the fold has ${fold?.online.length} of ${count} users after three minutes`);
    await Bun.sleep(100);
  }
}

const uids = Array.from({ length: users + staying }, (_, index) => uidOf(index));
const share = Math.ceil(users / killed);
const clients = await Promise.all(
  cluster.nodes.map(async (node, index) => {
    const helper = startHelper<IdleClientsOrder, number>("idle-clients.ts");
    const own = index === killed ? uids.slice(users) : uids.slice(index * share, Math.min((index + 1) * share, users));
    helper.tell({ url: node.url, people: own.map((uid) => ({ org: org.id, uid })), kind: "socket" });
    await helper.next();
    return helper;
  }),
);
const partsOfComing = await folded(uids.length);
console.log(`${uids.length} users came, in ${partsOfComing} parts`);
const quiet = beginSending(other, cid, sendEveryMs);
await Bun.sleep(3_000);
console.log(`sends without it: ${describe(await quiet.stop())} ms (p50 / p99 / worst)`);
const before = memoryOf(left.pid);
const sending = beginSending(other, cid, sendEveryMs);
for (const helper of clients.slice(0, killed)) helper.freeze();
const killedAt = performance.now();
await Promise.all(cluster.nodes.slice(0, killed).map((node) => node.kill()));
while (receiver.received.length === partsOfComing) await Bun.sleep(20);
const firstAt = performance.now();
const parts = (await folded(staying)) - partsOfComing;
const seconds = (performance.now() - firstAt) / 1_000;
console.log(`sends meanwhile: ${describe(await sending.stop())} ms`);
console.log(
  `${users} users of ${killed} killed nodes left in ${parts} parts: the first ${((firstAt - killedAt) / 1_000).toFixed(1)} s after the kill, all ${seconds.toFixed(1)} s later, ${Math.round(users / seconds)} users a second`,
);
console.log(
  `memory of the node that is left: ${megabytes(before)} MB before, at most ${megabytes(peakMemoryOf(left.pid))} MB`,
);
const fold = foldPresence(receiver.received);
const answer = await left.herald.admin<{ count: number }>("GET", `${org.path("online")}?count=true`);
const isOnce = uids.every((uid, index) => fold?.turns.get(uid) === (index < users ? 2 : 1));
console.log(
  `the fold has ${fold?.online.length} users, /online ${answer.body.count}; each came and left once: ${isOnce}`,
);
console.log(`largest part: ${Math.max(...receiver.received.map(({ bytes }) => bytes))} bytes`);
for (const helper of clients) await helper.stop();
