import type { CostRun } from "../../harness/costs.ts";
import { openCrowd } from "../../harness/crowd.ts";
import { memoryOfKernel } from "../../harness/meter.ts";
import type { Peer } from "../../harness/servers.ts";
import { type Ground, inHall, inMany, memoryAtRest, sizes, spend, strangers } from "./ground.ts";

const idleMs = 10_000;
const headCheckSeconds = 5;
const headChecksWatched = 4;

/** What an idle node costs, and what WebSockets add to it: memory, the connect, and being there. */
export async function costsOfSockets(ground: Ground): Promise<CostRun> {
  const node = await ground.startNode();
  const idleNodeBytes = await memoryAtRest(node.pid);
  const idle = await spend(ground, node, () => Bun.sleep(idleMs));
  const { bytes, kernelBytes, connect, close } = await fillWith(ground, node, "socket");
  const crowded = await spend(ground, node, () => Bun.sleep(idleMs));
  await close();
  await node.stop();
  const idleNodeCpu = idle.nodeMicros / idle.seconds;
  return {
    idleNodeBytes,
    idleNodeCpu,
    idleNodeDatabaseCpu: idle.databaseMicros / idle.seconds,
    socketBytes: bytes,
    kernelBytes,
    connectCpu: connect.node,
    connectDatabaseCpu: connect.database,
    socketIdleCpu: (crowded.nodeMicros / crowded.seconds - idleNodeCpu) / sizes.many,
  };
}

/** The same memory and connect of server-sent events. */
export async function costsOfStreams(ground: Ground): Promise<CostRun> {
  const node = await ground.startNode();
  const { bytes, connect, close } = await fillWith(ground, node, "stream");
  await close();
  await node.stop();
  return { streamBytes: bytes, connectStreamCpu: connect.node };
}

/** A ping a second, to be told apart from being there. */
export async function costOfPings(ground: Ground, { idleNodeCpu = 0, socketIdleCpu = 0 }: CostRun): Promise<CostRun> {
  const node = await ground.startNode({ HERALD_LIMIT_PING_SECONDS: "1" });
  const crowd = await openCrowd(node, inHall.slice(0, sizes.few), "socket");
  const before = crowd.pings();
  const { nodeMicros, seconds } = await spend(ground, node, () => Bun.sleep(idleMs));
  const pings = crowd.pings() - before;
  await crowd.close();
  await node.stop();
  return { pingCpu: (nodeMicros - seconds * (idleNodeCpu + socketIdleCpu * sizes.few)) / pings };
}

/** What further conversations add to a connection. */
export async function costOfSubscriptions(ground: Ground, { socketBytes = 0 }: CostRun): Promise<CostRun> {
  const node = await ground.startNode();
  const first = await openCrowd(node, inHall.slice(0, sizes.few), "socket");
  const before = await memoryAtRest(node.pid);
  const second = await openCrowd(node, inMany, "socket");
  const bytes = ((await memoryAtRest(node.pid)) - before) / inMany.length;
  await Promise.all([first.close(), second.close()]);
  await node.stop();
  return { subscriptionBytes: (bytes - socketBytes) / (sizes.conversationsOfEach - 1) };
}

/** What organizations add to the connections in them: memory, and the comparison of heads every five seconds. */
export async function costsOfOrganizations(ground: Ground, known: CostRun): Promise<CostRun> {
  const { socketBytes = 0, idleNodeCpu = 0, idleNodeDatabaseCpu = 0, socketIdleCpu = 0 } = known;
  const node = await ground.startNode();
  const first = await openCrowd(node, strangers.slice(0, sizes.fewOrganizations), "socket");
  const before = await memoryAtRest(node.pid);
  const second = await openCrowd(node, strangers.slice(sizes.fewOrganizations), "socket");
  const bytes = ((await memoryAtRest(node.pid)) - before) / second.size;
  const watchMs = headChecksWatched * headCheckSeconds * 1000;
  const { nodeMicros, databaseMicros, seconds } = await spend(ground, node, () => Bun.sleep(watchMs));
  await Promise.all([first.close(), second.close()]);
  await node.stop();
  const checks = (seconds / headCheckSeconds) * sizes.organizations;
  const others = seconds * (idleNodeCpu + socketIdleCpu * sizes.organizations);
  return {
    organizationBytes: bytes - socketBytes,
    headCheckCpu: (nodeMicros - others) / checks,
    headCheckDatabaseCpu: (databaseMicros - seconds * idleNodeDatabaseCpu) / checks,
  };
}

/** Opens a few connections, then many; the difference tells the cost of one. Some were opened and closed before, to warm up. */
async function fillWith(ground: Ground, node: Peer, kind: "socket" | "stream") {
  const [warm, some, more] = [
    inHall.slice(sizes.many),
    inHall.slice(0, sizes.few),
    inHall.slice(sizes.few, sizes.many),
  ];
  await (await openCrowd(node, warm, kind)).close();
  const first = await openCrowd(node, some, kind);
  const before = await memoryAtRest(node.pid);
  const kernelBefore = memoryOfKernel();
  const opened: Awaited<ReturnType<typeof openCrowd>>[] = [];
  const connect = await spend(ground, node, async () => opened.push(await openCrowd(node, more, kind)));
  const bytes = ((await memoryAtRest(node.pid)) - before) / more.length;
  const ends = 2 * more.length; // the crowd is on this machine, too
  return {
    bytes,
    kernelBytes: (memoryOfKernel() - kernelBefore) / ends,
    connect: { node: connect.nodeMicros / more.length, database: connect.databaseMicros / more.length },
    close: async () => void (await Promise.all([first, ...opened].map((crowd) => crowd.close()))),
  };
}
