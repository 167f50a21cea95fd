import type { Result } from "./result.ts";

const heads = [
  "Fault",
  "Expected, beside no loss, doubling or disorder",
  "Rounds, seed",
  "Acknowledged; other answers",
  "Connections, broken",
  "Lost / doubled / misordered / holes",
  "Sends answered again",
  "Everyone current again",
  "Slowest delivery",
];

/** A result with its faults. */
export type Judged = Result & { faults: string[] };

/** Renders the results as a Markdown table, followed by the faults. */
export function renderReport(results: readonly Judged[]): string {
  const failed = results.filter(({ faults }) => faults.length > 0);
  const lines = failed.map(({ name, faults }) => `- Not as expected, \`${name}\`: ${faults.join("; ")}`);
  return [renderTable(results), ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
}

function renderTable(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.row,
    result.expected,
    `${result.rounds}, ${result.seed}`,
    [result.acknowledged, ...renderLost(result), ...Object.entries(result.otherAnswers).map(renderAnswers)].join("; "),
    `${result.connections}, ${result.brokenConnections + result.brokenSlowConnections}`,
    [result.lost, result.doubled, result.misordered, result.holes].join(" / "),
    renderTimes(result.sendsAgainMs),
    renderTimes(result.currentAgainMs),
    renderTime(result.slowestDeliveryMs),
  ]);
  const lines = [heads, heads.map((_, index) => (index < 2 ? "---" : "--:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function renderLost({ lostByDatabase }: Result): string[] {
  return lostByDatabase === 0 ? [] : [`${lostByDatabase} of them lost by the database`];
}

function renderAnswers([answer, count]: [string, number]): string {
  return answer === "none" ? `${count} without an answer` : `${count} × ${answer}`;
}

/** The median and the maximum, if there was more than one round. */
function renderTimes(times: readonly number[]): string {
  const sorted = times.toSorted((left, right) => left - right);
  const [median, worst] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
  return sorted.length < 2 ? renderTime(worst) : `${renderTime(median)}, at worst ${renderTime(worst)}`;
}

/** Formats two significant digits: a time of one run on one machine is no more precise. */
function renderTime(ms: number): string {
  return ms < 950 ? `${Number(ms.toPrecision(2))} ms` : `${Number((ms / 1000).toPrecision(2))} s`;
}
