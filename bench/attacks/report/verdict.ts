import type { Measures } from "../../harness/report/rounds.ts";
import { median } from "../../harness/report/statistics.ts";

/** The requirements on a victim's times and on a node's memory. */
export const asked = {
  /** The maximum of the victim's p50 under attack, in the median of the rounds. */
  p50Ms: 5,
  /** The maximum of its p99 in every attack, in the median of the rounds. */
  p99Ms: 50,
  /** The maximum of its p99 in more than half of the attacks on each store. */
  usualP99Ms: 25,
  /** What a node's memory may grow by: the default of `HERALD_LIMIT_NODE_BACKLOG_BYTES`. */
  grownMebibytes: 1_024,
} as const;

/** Prefix of measures that must be 0; the rest of the name says what is wrong otherwise. */
export const wrongPrefix = "wrong: ";

/** The verdict on an attack: `wrongs` is empty if the node holds. Attacks on the bus have no victim, and no times. */
export type Verdict = { p50Ms?: number; p99Ms?: number; wrongs: string[] };

/** Judges the rounds of one attack. Failed sends, memory and what attackers were told are judged per round. */
export function judge(rounds: readonly Measures[]): Verdict {
  const most = (name: string) => Math.max(0, ...rounds.map((round) => round[name] ?? 0));
  const wrongs: string[] = [];
  const times = rounds.some(hasVictim)
    ? { p50Ms: median(rounds.map(timeOf("p50Ms"))), p99Ms: median(rounds.map(timeOf("p99Ms"))) }
    : undefined;
  if (times !== undefined && !(times.p50Ms <= asked.p50Ms && times.p99Ms <= asked.p99Ms)) wrongs.push("waits");
  if (most("victimFailed") > 0) wrongs.push("failed sends");
  if (most("grownMebibytes") > asked.grownMebibytes) wrongs.push("memory");
  if (most("died") > 0) wrongs.push("the node died");
  if (rounds.some(({ told, mustBeTold }) => told === 0 && mustBeTold === 1)) wrongs.push("not told");
  const names = new Set(rounds.flatMap((round) => Object.keys(round)).filter((name) => name.startsWith(wrongPrefix)));
  for (const name of names) if (most(name) > 0) wrongs.push(name.slice(wrongPrefix.length));
  return { ...times, wrongs };
}

/** How many of these attacks have a victim, and how many of them leave its p99 within what is usual. */
export function countUsual(verdicts: readonly Verdict[]): { usual: number; all: number } {
  const times = verdicts.flatMap(({ p99Ms }) => (p99Ms === undefined ? [] : [p99Ms]));
  return { usual: times.filter((p99Ms) => p99Ms <= asked.usualP99Ms).length, all: times.length };
}

/** Whether a node holds against all of these attacks on one store. */
export function holds(verdicts: readonly Verdict[]): boolean {
  const { usual, all } = countUsual(verdicts);
  return verdicts.every(({ wrongs }) => wrongs.length === 0) && (all === 0 || usual > all / 2);
}

/** Whether somebody else was sending during the attack. */
export function hasVictim({ calmP99Ms }: Measures): boolean {
  return calmP99Ms !== undefined;
}

/** Endless, if no send was answered at all. */
function timeOf(name: "p50Ms" | "p99Ms"): (round: Measures) => number {
  return (round) => {
    const value = round[name];
    return value === undefined || Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
  };
}
