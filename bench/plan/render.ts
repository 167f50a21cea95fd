import { renderCosts } from "../harness/report/costs.ts";
import { table } from "../harness/report/report.ts";
import { renderSetting } from "../harness/report/setting.ts";
import { assumptions } from "./assumptions.ts";
import { commitSeconds, logSecondsPerEvent, type Utilisation } from "./cell.ts";
import { flowOf } from "./flow.ts";
import type { Costs, KnownCosts } from "./known-costs.ts";
import { built, type Failure, type Means, mostConnections, type Plan, planFor, today } from "./planner.ts";
import { simulate } from "./queue.ts";
import { everydayWorkload, type Workload, workloads } from "./workload.ts";

const simulatedSeconds = 60;
const micros = 1e-6;

const limitNames: Record<keyof Utilisation, string> = {
  nodeCpu: "CPU of the nodes",
  nodeMemory: "memory of the nodes",
  databaseCpu: "CPU of PostgreSQL",
  databaseDisk: "disk of PostgreSQL",
  largestLog: "the writer of the largest log",
  natsCpu: "CPU of NATS",
  natsEvents: "events of NATS",
  natsNetwork: "network of NATS",
};

/** Each step adds one thing to the one above. */
const steps: readonly [what: string, means: Means][] = [
  ["Today", today],
  ["… many databases, each with its nodes: cells", { ...today, manyCells: true }],
  ["… a node forgets events after a minute", { ...today, manyCells: true, memory: "minute" }],
  ["… an organization's connections come together", { ...built, interest: "organization", parts: false }],
  ["… a large organization's log is split", { ...built, interest: "organization" }],
  ["… a node hears only its connections' conversations", built],
];

/** Renders the generated part of the page: costs, what one node carries, the steps, and the resulting plans. */
export function renderPlans(known: KnownCosts, target: number, seed: number): string {
  const { costs } = known;
  const [million, hundred] = workloads.map((workload) => ({
    workload,
    plans: steps.map(([, means]) => planFor(workload, costs, means, target, seed)),
  }));
  if (million === undefined || hundred === undefined) throw new Error("there are two workloads");
  const each = { ...everydayWorkload("one cell", 2 ** 23, 2 ** 23 / 50), retentionDays: 1 };
  const stepRows = steps.map(([what, means], index) => {
    const { connections, limit } = mostConnections(each, costs, means, target, seed);
    const full = limit === undefined ? "" : limitNames[limit];
    return [what, short(connections), full, outcome(million.plans[index]), outcome(hundred.plans[index])];
  });
  const last = [million, hundred].map(({ workload, plans }) => ({ workload, plan: planOf(plans.at(-1)) }));

  return [
    `${renderSetting(known.setting)}; medians of ${known.rounds} rounds; every run is in \`${known.file}\`.`,
    renderCosts(known.series),
    "### One node",
    `What one thing alone does to ${percent(target)} of one core, or to that share of ${bytes(assumptions.nodeMemoryBytes)}.`,
    table(["What", "One node carries", "Because"], oneNode(costs, target)),
    "### Step by step",
    `The workload above, every part at most ${percent(target)} busy. “no” names what stays fuller than that, however many servers there are.`,
    table(["", "One database carries, a day kept", "Full first", "1 M connections", "100 M connections"], stepRows),
    "### The plans",
    table(["", ...last.map(({ workload }) => workload.name)], planRows(last, costs, seed)),
  ].join("\n\n");
}

function oneNode(costs: Costs, target: number): string[][] {
  const cpu = (microseconds: number) => target / (microseconds * micros);
  const memory = assumptions.nodeMemoryBytes * target - costs.idleNodeBytes;
  const idleCpu = costs.socketIdleCpu + costs.pingCpu / assumptions.pingSeconds;
  const commit = costs.sendCommitCpu / costs.eventsPerCommit;
  const row = (what: string, count: number, reason: string) => [what, short(count), reason];
  return [
    row(
      "idle WebSockets, by memory",
      memory / (costs.socketBytes + costs.kernelBytes),
      "the node's memory and the kernel's",
    ),
    row("idle WebSockets, by CPU", cpu(idleCpu), `a ping every ${assumptions.pingSeconds} s`),
    row(
      "deliveries a second",
      cpu(costs.deliveryCpu),
      "one message at a time; fewer writes when several come together",
    ),
    row("sends a second, each in a commit of its own", cpu(costs.sendCommitCpu + costs.sendEventCpu), "the commit"),
    row(
      `sends a second, ${Math.round(costs.eventsPerCommit)} in a commit`,
      cpu(commit + costs.sendEventCpu),
      "the request",
    ),
    row("events a second that nobody here hears, one at a time", cpu(costs.hintCpu), "waking up"),
    row("events a second that nobody here hears, many at once", cpu(costs.hintBusyCpu), "reading JSON"),
    row("connects a second", cpu(costs.connectCpu), "token, snapshot, join"),
    row("organizations, by memory, quiet", memory / costs.organizationBytes, "sequencer and subscription"),
    row(
      "commits a second of one node",
      target / commitSeconds(costs),
      "one writer connection; one commit after another",
    ),
    row("sends a second in one organization", target / logSecondsPerEvent(costs), "its row is locked during a commit"),
  ];
}

function planRows(plans: { workload: Workload; plan: Plan }[], costs: Costs, seed: number): string[][] {
  const row = (what: string, tell: (plan: Plan, workload: Workload) => string) => [
    what,
    ...plans.map(({ plan, workload }) => tell(plan, workload)),
  ];
  const busy = (limit: keyof Utilisation) =>
    row(`… ${limitNames[limit]}`, ({ fullest }) => percent(fullest.utilisation[limit]));
  const waits = (load: number) =>
    row(load === 1 ? "Send to played: p50, p99" : `… when ${load} times as much comes`, (plan) => {
      const { p50Ms, p99Ms } = simulate(flowOf(plan, costs, load), simulatedSeconds, seed);
      return `${round(p50Ms)}, ${round(p99Ms)} ms`;
    });
  return [
    row("Organizations", (_, { organizations }) => short(organizations)),
    row("Sends, deliveries a second", (_, { connections, messagesPerConnection, recipients, ...rest }) => {
      const system = connections * rest.systemMessagesPerConnection;
      const messages = connections * messagesPerConnection;
      return `${short(messages + system)}, ${short(messages * recipients + system * rest.listedOnline)}`;
    }),
    row("Cells: databases", ({ cells }) => short(cells)),
    row("Nodes (one core each)", ({ nodes, servers }) => `${short(nodes)} (${servers.nodes} in a cell)`),
    row("NATS servers", ({ natsServers, servers }) => `${short(natsServers)} (${servers.natsServers} in a cell)`),
    row("Parts of the largest organization", ({ largestParts }) => short(largestParts)),
    row(
      "Connections, logs on a node",
      ({ fullest }) => `${short(fullest.connectionsPerNode)}, ${short(fullest.logsPerNode)}`,
    ),
    row("Busy in the fullest cell:", () => ""),
    ...(Object.keys(limitNames) as (keyof Utilisation)[]).map(busy), // Object.keys loses their type
    row("CPU of a node goes to", ({ fullest }) => {
      const { nodeCpu } = fullest.utilisation;
      const shares = Object.entries(fullest.nodeCpuBy).sort(([, left], [, right]) => right - left);
      return shares.map(([what, share]) => `${what} ${percent(share / nodeCpu)}`).join(", ");
    }),
    row(
      "Commits, flushes a second of a database",
      ({ fullest }) => `${short(fullest.commits)}, ${short(fullest.flushes)}`,
    ),
    row(
      "Events, bytes a second over the NATS of a cell",
      ({ fullest }) => `${short(fullest.natsEvents)}, ${bytes(fullest.natsBytes)}`,
    ),
    row("Events a second that come from other cells", ({ fullest }) => short(fullest.crossing)),
    row("Head checks a second of a cell", ({ fullest, servers }) => short(fullest.headChecksPerNode * servers.nodes)),
    row(
      "Disk of a database: a day, all days kept",
      ({ fullest }) => `${bytes(fullest.diskBytesPerDay)}, ${bytes(fullest.diskBytes)}`,
    ),
    row(
      "A lost node: connections, CPU time to take them",
      ({ fullest }) => `${short(fullest.storm.connections)}, ${round(fullest.storm.seconds)} s`,
    ),
    waits(1),
    waits(1.5),
  ];
}

function planOf(found: Plan | Failure | undefined): Plan {
  if (found !== undefined && "servers" in found) return found;
  throw new Error(`the last step has no plan: ${outcome(found)}`);
}

function outcome(found: Plan | Failure | undefined): string {
  if (found === undefined) return "";
  if ("limit" in found) {
    const value = Number.isFinite(found.value) ? ` ${percent(found.value)}` : "";
    return `no: ${limitNames[found.limit]}${value}`;
  }
  return `${short(found.cells)} × ${found.servers.nodes} nodes`;
}

function percent(share: number): string {
  return `${(share * 100).toLocaleString("en-US", { maximumSignificantDigits: 2 })} %`;
}

function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${round(count / 1000 ** power)} ${units[power]}`;
}

/** Formats two significant digits: a plan is no more precise. */
function short(count: number): string {
  if (count >= 1e6) return `${round(count / 1e6)} M`;
  if (count >= 1e4) return `${round(count / 1e3)} k`;
  return round(count);
}

function round(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
}
