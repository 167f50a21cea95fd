import { assumptions } from "./assumptions.ts";
import { type Cell, evaluateCell, logSecondsPerEvent, type Servers, type Utilisation } from "./cell.ts";
import type { Costs } from "./known-costs.ts";
import { type Behaviour, diskBytesPerConnection } from "./traffic.ts";
import { eventsPerConnection, type Log, logsOf, organizationSizes, type Workload } from "./workload.ts";

/** What a plan may use besides servers. */
export type Means = Behaviour & {
  /** Whether organizations may live in several databases, each with nodes and NATS servers of its own: a cell. */
  manyCells: boolean;
  /** Whether the log of a large organization may be split. */
  parts: boolean;
};

/** The servers that keep every utilisation below the target; the figures are those of the fullest cell. */
export type Plan = {
  cells: number;
  servers: Servers;
  nodes: number;
  natsServers: number;
  fullest: Cell;
  logs: number;
  largestParts: number;
};

/** Why no number of servers is enough: what stays above the target, and how far. */
export type Failure = { limit: keyof Utilisation; value: number };

/** The program as it is. */
export const today: Means = {
  interest: "organization",
  placement: "anywhere",
  memory: "events",
  manyCells: false,
  parts: false,
};

/** The program with everything that the documentation says must be built. */
export const built: Means = {
  interest: "conversation",
  placement: "together",
  memory: "minute",
  manyCells: true,
  parts: true,
};

const leastNodes = 2; // so that the loss of one is not the loss of all
const leastNats = 3;
const partsOfCell = 4; // at least, as larger parts could not be placed evenly
const maxNodes = 4_096;
const maxCells = 2_048;

/** The utilisation furthest above the target, or the fullest if all are below. */
function fullestOf(utilisation: Utilisation): Failure {
  const entries = Object.entries(utilisation) as [keyof Utilisation, number][]; // Object.entries loses their type
  return entries
    .map(([limit, value]) => ({ limit, value }))
    .reduce((most, other) => (other.value > most.value ? other : most));
}

/**
 * Assigns each log, the largest first, to the cell with the fewest connections so far: returns `cells` lists that
 * together hold each log once.
 */
export function placeLogs(bySize: readonly Log[], cells: number): Log[][] {
  const placed: Log[][] = Array.from({ length: cells }, () => []);
  const heap = placed.map((list) => ({ list, connections: 0 })); // a binary heap, the emptiest cell on top
  for (const log of bySize) {
    const [top] = heap;
    if (top === undefined) break;
    top.list.push(log);
    top.connections += log.connections;
    sink(heap);
  }
  return placed;
}

/** The fewest servers that keep everything at or below `target` (0 to 1), or what prevents it. */
export function planFor(workload: Workload, costs: Costs, means: Means, target: number, seed: number): Plan | Failure {
  const largest = means.parts ? largestPart(workload, costs, target) : Number.POSITIVE_INFINITY;
  const logs = logsOf(organizationSizes(workload, seed), largest);
  logs.sort((left, right) => right.connections - left.connections);
  const tryCells = (cells: number) => fillCells(logs, cells, workload, costs, means, target);

  let enough = 1;
  let best = tryCells(enough);
  while ("limit" in best && means.manyCells && enough < maxCells) {
    enough *= 2;
    best = tryCells(enough);
  }
  if ("limit" in best) return best;
  for (let few = Math.floor(enough / 2); enough - few > 1; ) {
    const middle = Math.floor((few + enough) / 2);
    const found = tryCells(middle);
    if ("limit" in found) few = middle;
    else [enough, best] = [middle, found];
  }
  return best;
}

/** Connections of one part of a log: what its single writer carries, and at most a quarter of what fits on the disk. */
function largestPart(workload: Workload, costs: Costs, target: number): number {
  const byWriter = target / logSecondsPerEvent(costs) / eventsPerConnection(workload);
  const byDisk = (target * assumptions.databaseDiskBytes) / diskBytesPerConnection(workload, costs);
  return Math.min(byWriter, byDisk / partsOfCell);
}

/**
 * The most connections of such a workload that one cell carries, to about one percent, and what is full beyond that.
 */
export function mostConnections(workload: Workload, costs: Costs, means: Means, target: number, seed: number) {
  const ofSize = (connections: number): Workload => {
    const organizations = Math.ceil((workload.organizations * connections) / workload.connections);
    return { ...workload, connections, organizations };
  };
  let [fits, exceeds] = [0, workload.connections];
  let failure: Failure | undefined;
  while (exceeds - fits > exceeds / 100) {
    const middle = Math.round((fits + exceeds) / 2);
    const found = planFor(ofSize(middle), costs, { ...means, manyCells: false }, target, seed);
    if ("limit" in found) [exceeds, failure] = [middle, found];
    else fits = middle;
  }
  return { connections: fits, limit: failure?.limit };
}

function fillCells(
  logs: readonly Log[],
  cells: number,
  workload: Workload,
  costs: Costs,
  means: Means,
  target: number,
): Plan | Failure {
  if (cells > logs.length) return { limit: "largestLog", value: Number.POSITIVE_INFINITY };
  const fullestLogs = placeLogs(logs, cells).reduce((most, other) =>
    connectionsOf(other) > connectionsOf(most) ? other : most,
  );
  const evaluate = (nodes: number, natsServers = leastNats) =>
    evaluateCell(fullestLogs, workload, costs, means, { nodes, natsServers });
  const fits = ({ utilisation: { nodeCpu, nodeMemory } }: Cell) => Math.max(nodeCpu, nodeMemory) <= target;

  const nodes = fewest(leastNodes, maxNodes, (count) => fits(evaluate(count)));
  if (nodes === undefined) {
    const { nodeCpu, nodeMemory } = evaluate(maxNodes).utilisation;
    return nodeCpu > nodeMemory ? { limit: "nodeCpu", value: nodeCpu } : { limit: "nodeMemory", value: nodeMemory };
  }
  const natsServers = fewest(leastNats, nodes + leastNats, (count) => {
    const { natsCpu, natsEvents, natsNetwork } = evaluate(nodes, count).utilisation;
    return Math.max(natsCpu, natsEvents, natsNetwork) <= target;
  });
  const servers = { nodes, natsServers: natsServers ?? nodes + leastNats };
  const fullest = evaluate(servers.nodes, servers.natsServers);
  const most = fullestOf(fullest.utilisation);
  if (most.value > target) return most;
  return {
    cells,
    servers,
    nodes: cells * servers.nodes,
    natsServers: cells * servers.natsServers,
    fullest,
    logs: logs.length,
    largestParts: logs.reduce((parts, log) => Math.max(parts, log.parts), 1),
  };
}

/** The smallest number between `from` and `to` for which this holds, if it holds from there on. */
function fewest(from: number, to: number, holds: (count: number) => boolean): number | undefined {
  let enough = from;
  while (!holds(enough)) {
    if (enough === to) return undefined;
    enough = Math.min(to, enough * 2);
  }
  for (let few = Math.max(from - 1, Math.floor(enough / 2)); enough - few > 1; ) {
    const middle = Math.floor((few + enough) / 2);
    if (holds(middle)) enough = middle;
    else few = middle;
  }
  return enough;
}

function connectionsOf(logs: readonly Log[]): number {
  return logs.reduce((sum, { connections }) => sum + connections, 0);
}

/** Restores the heap after its top has grown. */
function sink<Item extends { connections: number }>(heap: Item[]): void {
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const child = sizeAt(heap, right) < sizeAt(heap, left) ? right : left;
    const [parentItem, childItem] = [heap[at], heap[child]];
    if (parentItem === undefined || childItem === undefined || childItem.connections >= parentItem.connections) return;
    [heap[at], heap[child]] = [childItem, parentItem];
    at = child;
  }
}

function sizeAt(heap: readonly { connections: number }[], at: number): number {
  return heap[at]?.connections ?? Number.POSITIVE_INFINITY;
}
