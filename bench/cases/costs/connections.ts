import { createLogReader } from "../../../src/store/log/log-reader.ts";
import { connectPostgres } from "../../../src/store/postgres/postgres.ts";
import { openIdleClients } from "../../harness/clients/idle-clients.ts";
import { memoryOfKernel } from "../../harness/meter.ts";
import type { CostRun } from "../../harness/report/costs.ts";
import type { Peer } from "../../harness/servers.ts";
import { type Fixture, inHall, inMany, memoryAtRest, sizes, spend, strangers } from "./fixture.ts";

const idleMs = 10_000;
const headChecks = 100;

/** Measures what an idle node costs, and what WebSockets add: memory, connecting, and staying connected. */
export async function costsOfSockets(fixture: Fixture): Promise<CostRun> {
  const node = await fixture.startNode();
  const idleNodeBytes = await memoryAtRest(node.pid);
  const idle = await spend(fixture, node, () => Bun.sleep(idleMs));
  const { bytes, kernelBytes, connect, close } = await fillWith(fixture, node, "socket");
  const crowded = await spend(fixture, node, () => Bun.sleep(idleMs));
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

/** Measures the memory and the connects of server-sent event streams. */
export async function costsOfStreams(fixture: Fixture): Promise<CostRun> {
  const node = await fixture.startNode();
  const { bytes, connect, close } = await fillWith(fixture, node, "stream");
  await close();
  await node.stop();
  return { streamBytes: bytes, connectStreamCpu: connect.node };
}

/**
 * Pings once a second, to separate their cost from that of staying connected. The same node, once warm, shows before what
 * it costs without connections: that of another node may be as far off as the pings cost.
 */
export async function costOfPings(fixture: Fixture, { socketIdleCpu = 0 }: CostRun): Promise<CostRun> {
  const node = await fixture.startNode({ HERALD_LIMIT_PING_SECONDS: "1", HERALD_LIMIT_PONG_SECONDS: "1" });
  await (await openIdleClients(node, inHall.slice(sizes.many), "socket")).close();
  const idle = await spend(fixture, node, () => Bun.sleep(idleMs));
  const clients = await openIdleClients(node, inHall.slice(0, sizes.few), "socket");
  const before = clients.pings();
  const { nodeMicros, seconds } = await spend(fixture, node, () => Bun.sleep(idleMs));
  const pings = clients.pings() - before;
  await clients.close();
  await node.stop();
  const microsOfIdle = seconds * (idle.nodeMicros / idle.seconds + socketIdleCpu * sizes.few);
  return { pingCpu: (nodeMicros - microsOfIdle) / pings };
}

/** Measures what further conversations add to a connection. */
export async function costOfSubscriptions(fixture: Fixture, { socketBytes = 0 }: CostRun): Promise<CostRun> {
  const node = await fixture.startNode();
  const first = await openIdleClients(node, inHall.slice(0, sizes.few), "socket");
  const before = await memoryAtRest(node.pid);
  const second = await openIdleClients(node, inMany, "socket");
  const bytes = ((await memoryAtRest(node.pid)) - before) / inMany.length;
  await Promise.all([first.close(), second.close()]);
  await node.stop();
  return { subscriptionBytes: (bytes - socketBytes) / (sizes.conversationsOfEach - 1) };
}

/** Measures what organizations add to the connections in them. */
export async function costOfOrganizations(fixture: Fixture, { socketBytes = 0 }: CostRun): Promise<CostRun> {
  const node = await fixture.startNode();
  const first = await openIdleClients(node, strangers.slice(0, sizes.fewOrganizations), "socket");
  const before = await memoryAtRest(node.pid);
  const second = await openIdleClients(node, strangers.slice(sizes.fewOrganizations), "socket");
  const bytes = ((await memoryAtRest(node.pid)) - before) / second.size;
  await Promise.all([first.close(), second.close()]);
  await node.stop();
  return { organizationBytes: bytes - socketBytes };
}

/**
 * Measures the comparison of heads that a node makes every five seconds, which is too cheap to be seen from outside. So
 * this process, otherwise idle, makes the same comparison many times.
 */
export async function costOfHeadChecks(fixture: Fixture): Promise<CostRun> {
  const reader = connectPostgres(fixture.databaseUrl);
  const { heads } = createLogReader({ reader });
  const orgs = strangers.map(({ org }) => org);
  await heads(orgs);
  const [databaseMs, own] = [await fixture.databaseCpuMs(), process.cpuUsage()];
  for (let check = 0; check < headChecks; check++) await heads(orgs);
  const { user, system } = process.cpuUsage(own);
  const databaseMicros = ((await fixture.databaseCpuMs()) - databaseMs) * 1000;
  await reader.close();
  const compared = headChecks * orgs.length;
  return { headCheckCpu: (user + system) / compared, headCheckDatabaseCpu: databaseMicros / compared };
}

/**
 * Opens a few connections, then many; the difference gives the cost of one. Others were opened and closed before, to
 * warm up.
 */
async function fillWith(fixture: Fixture, node: Peer, kind: "socket" | "stream") {
  const [warm, some, more] = [
    inHall.slice(sizes.many),
    inHall.slice(0, sizes.few),
    inHall.slice(sizes.few, sizes.many),
  ];
  await (await openIdleClients(node, warm, kind)).close();
  const first = await openIdleClients(node, some, kind);
  const before = await memoryAtRest(node.pid);
  const kernelBefore = memoryOfKernel();
  const opened: Awaited<ReturnType<typeof openIdleClients>>[] = [];
  const connect = await spend(fixture, node, async () => opened.push(await openIdleClients(node, more, kind)));
  const bytes = ((await memoryAtRest(node.pid)) - before) / more.length;
  const ends = 2 * more.length; // both ends are on this machine
  return {
    bytes,
    kernelBytes: (memoryOfKernel() - kernelBefore) / ends,
    connect: { node: connect.nodeMicros / more.length, database: connect.databaseMicros / more.length },
    close: async () => void (await Promise.all([first, ...opened].map((clients) => clients.close()))),
  };
}
