import { assumptions } from "./assumptions.ts";
import type { Costs } from "./known-costs.ts";
import { type Behaviour, batchesPerSecond, diskBytesPerConnection, type Traffic, trafficOf } from "./traffic.ts";
import type { Log, Workload } from "./workload.ts";

/** How busy each part of a cell is at the busiest time; 1 is full capacity. */
export type Utilisation = {
  nodeCpu: number;
  nodeMemory: number;
  databaseCpu: number;
  databaseDisk: number;
  largestLog: number;
  natsCpu: number;
  natsEvents: number;
  natsNetwork: number;
};

/** Figures of a cell beside its utilisation; rates per second. */
export type Cell = {
  utilisation: Utilisation;
  connectionsPerNode: number;
  logsPerNode: number;
  sends: number;
  commits: number;
  flushes: number;
  deliveries: number;
  hintsPerNode: number;
  headChecksPerNode: number;
  natsEvents: number;
  natsBytes: number;
  /** Events from other parts of split organizations, if all of those were in other cells. */
  crossing: number;
  diskBytesPerDay: number;
  diskBytes: number;
  storm: { connections: number; seconds: number };
  /** CPU of one node in cores, by purpose. They add up to `utilisation.nodeCpu`. */
  nodeCpuBy: Record<"being there" | "sends" | "hints" | "deliveries" | "connects" | "head checks", number>;
};

/** The servers of a cell: one database, and those around it. */
export type Servers = { nodes: number; natsServers: number };

const micros = 1e-6;

/** The duration of one commit in seconds when nothing waits: the work of both sides and the flush. */
export function commitSeconds(costs: Costs): number {
  return (costs.sendCommitCpu + costs.sendCommitDatabaseCpu) * micros + costs.flushMs / 1000;
}

/** Seconds that an event takes of its log's single writer, with as many events per commit as were measured. */
export function logSecondsPerEvent(costs: Costs): number {
  return commitSeconds(costs) / costs.eventsPerCommit + costs.sendEventDatabaseCpu * micros;
}

/** How busy the servers of one cell are if these logs live there. */
export function evaluateCell(
  logs: readonly Log[],
  workload: Workload,
  costs: Costs,
  behaviour: Behaviour,
  servers: Servers,
): Cell {
  const { nodes, natsServers } = servers;
  const traffic = trafficOf(logs, workload, behaviour, nodes);
  const { connections, sends, hints, connects, headChecks } = traffic;
  const commits = nodes * batchesPerSecond(sends / nodes, commitSeconds(costs));
  const nodeCpuBy = nodeCpuOf(traffic, commits, nodes, costs);
  const nodeCpu = Object.values(nodeCpuBy).reduce((sum, share) => sum + share, 0);
  const nodeMemoryBytes =
    costs.idleNodeBytes +
    (connections / nodes) *
      (costs.socketBytes + costs.kernelBytes + (workload.conversationsPerConnection - 1) * costs.subscriptionBytes) +
    (traffic.logNodes / nodes) * costs.organizationBytes +
    (traffic.remembered / nodes) * costs.rememberedEventBytes;
  const databaseMicros =
    sends * costs.sendEventDatabaseCpu +
    commits * costs.sendCommitDatabaseCpu +
    connects * costs.connectDatabaseCpu +
    headChecks * costs.headCheckDatabaseCpu +
    nodes * costs.idleNodeDatabaseCpu;

  const natsEvents = sends + hints;
  const natsBytes = natsEvents * (costs.hintBytes + assumptions.busOverheadBytes);
  const natsWakeUps = batchesPerSecond(natsEvents / natsServers, costs.natsCpu * micros);
  const natsCpu =
    ((natsEvents / natsServers) * costs.natsBusyCpu + natsWakeUps * Math.max(0, costs.natsCpu - costs.natsBusyCpu)) *
    micros;
  const diskBytes = connections * diskBytesPerConnection(workload, costs);

  return {
    utilisation: {
      nodeCpu,
      nodeMemory: nodeMemoryBytes / assumptions.nodeMemoryBytes,
      databaseCpu: (databaseMicros * micros) / assumptions.databaseCores,
      databaseDisk: diskBytes / assumptions.databaseDiskBytes,
      largestLog: traffic.largestLog * logSecondsPerEvent(costs),
      natsCpu: natsCpu / assumptions.natsCores,
      natsEvents: natsEvents / natsServers / assumptions.natsEventsPerSecond,
      natsNetwork: natsBytes / natsServers / assumptions.networkBytesPerSecond,
    },
    connectionsPerNode: connections / nodes,
    logsPerNode: traffic.logNodes / nodes,
    sends,
    commits,
    flushes: batchesPerSecond(commits, costs.flushMs / 1000),
    deliveries: traffic.deliveries,
    hintsPerNode: hints / nodes,
    headChecksPerNode: headChecks / nodes,
    natsEvents,
    natsBytes,
    crossing: traffic.crossing,
    diskBytesPerDay: diskBytes / workload.retentionDays,
    diskBytes,
    storm: stormOf(connections, nodes, nodeCpu, databaseMicros * micros, costs),
    nodeCpuBy,
  };
}

/** CPU of one node in cores. Sends, connections and commits are spread evenly over the nodes. */
function nodeCpuOf(traffic: Traffic, commits: number, nodes: number, costs: Costs): Cell["nodeCpuBy"] {
  const { connections, sends, listedPerSend, hints, deliveries, connects, headChecks } = traffic;
  const perNode = (microseconds: number) => (microseconds * micros) / nodes / assumptions.nodeCores;
  const wakeUps = nodes * batchesPerSecond(hints / nodes, costs.hintCpu * micros);
  const wakeUpCpu = Math.max(0, costs.hintCpu - costs.hintBusyCpu);
  const idleCpu = costs.socketIdleCpu + costs.pingCpu / assumptions.pingSeconds;
  return {
    "being there": perNode(nodes * costs.idleNodeCpu + connections * idleCpu),
    sends: perNode(
      sends * (costs.sendEventCpu + listedPerSend * costs.recipientSendCpu) + commits * costs.sendCommitCpu,
    ),
    hints: perNode(hints * (costs.hintBusyCpu + listedPerSend * costs.recipientCpu) + wakeUps * wakeUpCpu),
    deliveries: perNode(deliveries * costs.deliveryCpu),
    connects: perNode(connects * costs.connectCpu),
    "head checks": perNode(headChecks * costs.headCheckCpu),
  };
}

/** The storm after losing one node: the others take its connections with their spare CPU, as does the database. */
function stormOf(connections: number, nodes: number, nodeCpu: number, databaseCores: number, costs: Costs) {
  const moving = connections / nodes;
  const spareOfNodes = Math.max(0, nodes - 1) * Math.max(0, 1 - (nodeCpu * nodes) / Math.max(1, nodes - 1));
  const spareOfDatabase = Math.max(0, assumptions.databaseCores - databaseCores);
  const seconds = Math.max(
    (moving * costs.connectCpu * micros) / spareOfNodes,
    (moving * costs.connectDatabaseCpu * micros) / spareOfDatabase,
  );
  return { connections: moving, seconds };
}
