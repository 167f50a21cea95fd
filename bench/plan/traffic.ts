import { assumptions } from "./assumptions.ts";
import type { Costs } from "./known-costs.ts";
import { eventsPerConnection, type Log, type Workload } from "./workload.ts";

/** How the program behaves: today, or as planned. */
export type Behaviour = {
  /**
   * Whether a node hears all events of an organization with connections there, or only those of its connections'
   * conversations.
   */
  interest: "organization" | "conversation";
  /** Whether connections of an organization go to any node, or to as few as can hold them. */
  placement: "anywhere" | "together";
  /** Whether a node keeps the last events of an organization indefinitely, or for a minute. */
  memory: "events" | "minute";
};

/** The traffic of a cell, per second unless it is a count. */
export type Traffic = {
  connections: number;
  sends: number;
  /** Users listed in a send, on average: only system messages list any. */
  listedPerSend: number;
  /** Events that arrive over the bus, at all nodes together. */
  hints: number;
  /** Events from other parts of split organizations, if all of those were in other cells. */
  crossing: number;
  deliveries: number;
  connects: number;
  headChecks: number;
  /** Logs with connections on a node, summed over all nodes. */
  logNodes: number;
  /** Events that nodes keep for joining connections. */
  remembered: number;
  /** Sends to the log with the most. */
  largestLog: number;
};

const secondsPerDay = 86_400;
const connectionsTogether = 5_000; // of one organization on one node, before another node is used
const leastTogether = 2; // nodes, so that the loss of one moves only half

/**
 * Work done in batches: items that arrive during a batch go with the next. So `rate` makes at most 1 / `seconds`
 * batches, and hardly more than it has items if these are few.
 */
export function batchesPerSecond(rate: number, seconds: number): number {
  return rate / (1 + rate * seconds);
}

/** The expected number of `nodes` reached by `items`, each going to any of them. */
export function nodesMet(items: number, nodes: number): number {
  return nodes * (1 - (1 - 1 / nodes) ** items);
}

/** What a connection's events take on disk, over all days that are kept. */
export function diskBytesPerConnection(workload: Workload, costs: Costs): number {
  const eventsPerDay = eventsPerConnection(workload) * workload.meanByPeak * secondsPerDay;
  return eventsPerDay * workload.retentionDays * costs.eventBytesPostgres;
}

/** Adds up the traffic of a cell's logs on `nodes` nodes. */
export function trafficOf(logs: readonly Log[], workload: Workload, behaviour: Behaviour, nodes: number): Traffic {
  const perConnection = eventsPerConnection(workload);
  const isWhole = behaviour.interest === "organization";
  const keptSeconds = behaviour.memory === "minute" ? 60 : assumptions.uptimeSeconds;
  const total = { connections: 0, logNodes: 0, hints: 0, crossing: 0, largestLog: 0, remembered: 0 };
  for (const log of logs) {
    const spread = spreadOf(log, nodes, behaviour);
    const events = log.connections * perConnection;
    const recipients = Math.min(workload.recipients, log.ofOrganization);
    // Connections of one part are in conversations of the others, so the events of all parts concern each.
    const reached = isWhole ? spread : nodesMet(recipients / log.parts, spread);
    const partsReached = isWhole ? log.parts : nodesMet(recipients, log.parts);
    const hints = events * log.parts * reached;
    total.connections += log.connections;
    total.logNodes += spread * log.parts;
    total.hints += hints;
    total.crossing += (events * (log.parts - 1) * partsReached) / log.parts;
    total.largestLog = Math.max(total.largestLog, events);
    total.remembered += Math.min(assumptions.rememberedEvents * log.parts * spread, hints * keptSeconds);
  }
  const messages = total.connections * workload.messagesPerConnection;
  const systemMessages = total.connections * workload.systemMessagesPerConnection;
  return {
    ...total,
    sends: messages + systemMessages,
    listedPerSend: (systemMessages * workload.listed) / (messages + systemMessages),
    deliveries: messages * workload.recipients + systemMessages * workload.listedOnline,
    connects: total.connections * workload.reconnectsPerConnection,
    headChecks: total.logNodes / assumptions.headCheckSeconds,
  };
}

/** The number of nodes on which the log has connections. */
function spreadOf({ connections }: Log, nodes: number, { placement }: Behaviour): number {
  if (placement === "anywhere") return nodesMet(connections, nodes);
  const asFew = Math.max(leastTogether, Math.ceil(connections / connectionsTogether));
  return nodesMet(connections, Math.min(nodes, asFew));
}
