import { assumptions } from "./assumptions.ts";
import type { Costs } from "./known-costs.ts";
import { eventsPerConnection, type Log, type Workload } from "./workload.ts";

/** How the program behaves: as it does today, or as the plan asks. */
export type Behaviour = {
  /** Whether a node hears all events of an organization that has connections there, or those of its connections' conversations. */
  interest: "organization" | "conversation";
  /** Whether connections of an organization come to any node, or to as few as hold them. */
  placement: "anywhere" | "together";
  /** Whether a node keeps the last events of an organization for ever, or for a minute. */
  memory: "events" | "minute";
};

/** What each part of a cell is busy with, 1 being all that it has, at the busiest time. */
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
  diskBytesPerDay: number;
  diskBytes: number;
  storm: { connections: number; seconds: number };
  /** CPU of one node, in cores, by what it is spent on. They add up to `utilisation.nodeCpu`. */
  nodeCpuBy: Record<"being there" | "sends" | "hints" | "deliveries" | "connects" | "head checks", number>;
};

/** Servers of a cell: one database, and what stands around it. */
export type Servers = { nodes: number; natsServers: number };

const secondsPerDay = 86_400;
const micros = 1e-6;
const connectionsTogether = 5_000; // of one organization on one node, before it takes another
const leastTogether = 2; // nodes, so that the loss of one moves only half

/**
 * Work that is done in batches: what comes while one is under way goes with the next. So `rate` makes at most 1 / `seconds`
 * batches, and few more than it has items when there is little of it.
 */
export function batchesPerSecond(rate: number, seconds: number): number {
  return rate / (1 + rate * seconds);
}

/** How many of `nodes` at least one of `items` meets, when each goes to any of them. */
export function nodesMet(items: number, nodes: number): number {
  return nodes * (1 - (1 - 1 / nodes) ** items);
}

/** Seconds that one commit takes when nothing waits: the work of both sides and the flush. */
export function commitSeconds(costs: Costs): number {
  return (costs.sendCommitCpu + costs.sendCommitDatabaseCpu) * micros + costs.flushMs / 1000;
}

/** Seconds of its log's one writer that an event takes, among as many as were measured in one commit. */
export function logSecondsPerEvent(costs: Costs): number {
  return commitSeconds(costs) / costs.eventsPerCommit + costs.sendEventDatabaseCpu * micros;
}

/** What a connection's events take on the disk, all days that are kept together. */
export function diskBytesPerConnection(workload: Workload, costs: Costs): number {
  const eventsPerDay = eventsPerConnection(workload) * workload.meanByPeak * secondsPerDay;
  return eventsPerDay * workload.retentionDays * costs.eventBytesPostgres;
}

/** What the servers of one cell are busy with, when these logs have their home there. */
export function evaluateCell(
  logs: readonly Log[],
  workload: Workload,
  costs: Costs,
  behaviour: Behaviour,
  servers: Servers,
): Cell {
  const { nodes, natsServers } = servers;
  const perConnection = eventsPerConnection(workload);
  const kept = behaviour.memory === "minute" ? 60 : assumptions.uptimeSeconds;
  const total = { connections: 0, logNodes: 0, hints: 0, largest: 0, remembered: 0 };
  for (const log of logs) {
    const spread = spreadOf(log, nodes, behaviour);
    const events = log.connections * perConnection;
    // Connections of one part are in conversations of the others, so the events of all parts concern each.
    const recipients = Math.min(workload.recipients, log.ofOrganization) / log.parts;
    const reached = behaviour.interest === "organization" ? spread : nodesMet(recipients, spread);
    const hints = events * log.parts * reached;
    total.connections += log.connections;
    total.logNodes += spread * log.parts;
    total.hints += hints;
    total.largest = Math.max(total.largest, events);
    total.remembered += Math.min(assumptions.rememberedEvents * log.parts * spread, hints * kept);
  }

  const sends = total.connections * perConnection;
  const commitTime = commitSeconds(costs);
  const commits = nodes * batchesPerSecond(sends / nodes, commitTime);
  const messages = total.connections * workload.messagesPerConnection;
  const systemMessages = total.connections * workload.systemMessagesPerConnection;
  const deliveries = messages * workload.recipients + systemMessages * workload.listedOnline;
  const connects = total.connections * workload.reconnectsPerConnection;
  const hintsPerNode = total.hints / nodes;
  const wakeUps = batchesPerSecond(hintsPerNode, costs.hintCpu * micros);
  const headChecks = total.logNodes / assumptions.headCheckSeconds;

  const perNode = (microseconds: number) => (microseconds * micros) / nodes / assumptions.nodeCores;
  const listedPerEvent = (systemMessages / sends) * workload.listed;
  const nodeCpuBy: Cell["nodeCpuBy"] = {
    "being there":
      perNode(costs.idleNodeCpu) * nodes +
      perNode(total.connections * (costs.socketIdleCpu + costs.pingCpu / assumptions.pingSeconds)),
    sends: perNode(
      sends * costs.sendEventCpu + commits * costs.sendCommitCpu + sends * listedPerEvent * costs.recipientSendCpu,
    ),
    hints:
      perNode(total.hints * (costs.hintBusyCpu + listedPerEvent * costs.recipientCpu)) +
      perNode(nodes * wakeUps * Math.max(0, costs.hintCpu - costs.hintBusyCpu)),
    deliveries: perNode(deliveries * costs.deliveryCpu),
    connects: perNode(connects * costs.connectCpu),
    "head checks": perNode(headChecks * costs.headCheckCpu),
  };
  const nodeCpu = Object.values(nodeCpuBy).reduce((sum, share) => sum + share, 0);
  const nodeMemoryBytes =
    costs.idleNodeBytes +
    (total.connections / nodes) *
      (costs.socketBytes + costs.kernelBytes + (workload.conversationsPerConnection - 1) * costs.subscriptionBytes) +
    (total.logNodes / nodes) * costs.organizationBytes +
    (total.remembered / nodes) * costs.rememberedEventBytes;
  const databaseMicros =
    sends * costs.sendEventDatabaseCpu +
    commits * costs.sendCommitDatabaseCpu +
    connects * costs.connectDatabaseCpu +
    headChecks * costs.headCheckDatabaseCpu +
    nodes * costs.idleNodeDatabaseCpu;

  const natsEvents = sends + total.hints;
  const natsBytes = natsEvents * (costs.hintBytes + assumptions.busOverheadBytes);
  const natsWakeUps = batchesPerSecond(natsEvents / natsServers, costs.natsCpu * micros);
  const natsCpu =
    ((natsEvents / natsServers) * costs.natsBusyCpu + natsWakeUps * Math.max(0, costs.natsCpu - costs.natsBusyCpu)) *
    micros;
  const diskBytes = total.connections * diskBytesPerConnection(workload, costs);

  return {
    utilisation: {
      nodeCpu,
      nodeMemory: nodeMemoryBytes / assumptions.nodeMemoryBytes,
      databaseCpu: (databaseMicros * micros) / assumptions.databaseCores,
      databaseDisk: diskBytes / assumptions.databaseDiskBytes,
      largestLog: total.largest * logSecondsPerEvent(costs),
      natsCpu: natsCpu / assumptions.natsCores,
      natsEvents: natsEvents / natsServers / assumptions.natsEventsPerSecond,
      natsNetwork: natsBytes / natsServers / assumptions.networkBytesPerSecond,
    },
    connectionsPerNode: total.connections / nodes,
    logsPerNode: total.logNodes / nodes,
    sends,
    commits,
    flushes: batchesPerSecond(commits, costs.flushMs / 1000),
    deliveries,
    hintsPerNode,
    headChecksPerNode: headChecks / nodes,
    natsEvents,
    natsBytes,
    diskBytesPerDay: diskBytes / workload.retentionDays,
    diskBytes,
    storm: stormOf(total.connections, nodes, nodeCpu, databaseMicros * micros, costs),
    nodeCpuBy,
  };
}

/** The nodes on which the log has connections. */
function spreadOf({ connections }: Log, nodes: number, { placement }: Behaviour): number {
  if (placement === "anywhere") return nodesMet(connections, nodes);
  const asFew = Math.max(leastTogether, Math.ceil(connections / connectionsTogether));
  return nodesMet(connections, Math.min(nodes, asFew));
}

/** One node is lost; the others take its connections with the CPU that they have left, and so does the database. */
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
