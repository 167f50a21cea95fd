import type { Measures, Series } from "./rounds.ts";
import { median } from "./statistics.ts";

/** All measured costs by their names in the results, each with its description and unit. */
export const costCatalogue = {
  idleNodeBytes: ["memory of a node without connections", "B"],
  idleNodeCpu: ["CPU of a node without connections", "µs/s"],
  idleNodeDatabaseCpu: ["… and PostgreSQL's", "µs/s"],
  socketBytes: ["memory of an idle WebSocket", "B"],
  streamBytes: ["memory of an idle SSE stream", "B"],
  subscriptionBytes: ["memory of one more conversation of a connection", "B"],
  organizationBytes: ["memory of an organization with connections on the node", "B"],
  rememberedEventBytes: ["memory of an event that an organization's node keeps for who joins", "B"],
  kernelBytes: ["the kernel's memory of one end of a connection", "B"],
  socketIdleCpu: ["CPU of an idle WebSocket, its pings left out", "µs/s"],
  pingCpu: ["CPU of a ping and its pong", "µs"],
  connectCpu: ["CPU of a connect: token, snapshot, join", "µs"],
  connectDatabaseCpu: ["… and PostgreSQL's", "µs"],
  connectStreamCpu: ["CPU of a connect of a stream", "µs"],
  connectEmbeddedCpu: ["CPU of a connect, SQLite", "µs"],
  headCheckCpu: ["CPU of the head check, for each organization and check", "µs"],
  headCheckDatabaseCpu: ["… and PostgreSQL's", "µs"],
  sendCommitCpu: ["CPU of a commit on the sending node", "µs"],
  sendEventCpu: ["CPU of a send on the sending node, its commit left out", "µs"],
  sendCommitDatabaseCpu: ["PostgreSQL's CPU of a commit", "µs"],
  sendEventDatabaseCpu: ["PostgreSQL's CPU of a send, its commit left out", "µs"],
  eventsPerCommit: ["sends in a commit, 64 callers on one node", ""],
  hintCpu: ["CPU of an event that comes over NATS and nobody hears", "µs"],
  hintBusyCpu: ["… when many come at once", "µs"],
  natsCpu: ["NATS's CPU of an event that one other node takes", "µs"],
  natsBusyCpu: ["… when many come at once", "µs"],
  deliveryCpu: ["CPU of a delivery, one message at a time", "µs"],
  recipientCpu: ["CPU of a listed user of a system message who is not on the node", "µs"],
  recipientSendCpu: ["… on the sending node", "µs"],
  hintBytes: ["an event on the bus", "B"],
  walBytes: ["PostgreSQL's log (WAL) for a send", "B"],
  eventBytesPostgres: ["a stored event with its indexes, PostgreSQL", "B"],
  eventBytesSqlite: ["a stored event with its indexes, SQLite", "B"],
  flushMs: ["a flush of this disk (fdatasync of 8 KiB)", "ms"],
} as const satisfies Record<string, readonly [what: string, unit: string]>;

/** The name of a cost. */
export type CostName = keyof typeof costCatalogue;

/** The costs that one round measured. */
export type CostRun = Partial<Record<CostName, number>> & Measures;

/** The name of the series of costs: one contender, one run per round. */
export const costSeries = { title: "Costs", contender: "herald" } as const;

/** Renders the costs as a Markdown table: median, minimum and maximum of the rounds. */
export function renderCosts(series: Series): string {
  const runs = series[costSeries.contender] ?? [];
  const lines = costNames().map((name) => {
    const [what, unit] = costCatalogue[name];
    const values = runs.map((run) => run[name] ?? Number.NaN);
    const shown = [median(values), Math.min(...values), Math.max(...values)].map((value) => rounded(value));
    return `| ${what} | ${shown[0]} ${unit} | ${shown[1]} – ${shown[2]} |`;
  });
  return ["| Cost | Median | Least – most |", "|---|--:|--:|", ...lines].join("\n");
}

/** The names of all costs, in the order of the table. */
export function costNames(): CostName[] {
  return Object.keys(costCatalogue) as CostName[]; // Object.keys loses their type
}

/** Formats three significant digits, with thousands separators. */
function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
