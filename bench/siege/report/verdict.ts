import type { Measures } from "../../harness/report/rounds.ts";
import { median } from "../../harness/report/statistics.ts";

/** What is asked of a victim, and of what a node holds. */
export const asked = {
  /** The victim's p99 under attack by its undisturbed p99 of the same run, at most: the median of the rounds. */
  ratio: 3,
  /** An undisturbed p99 below this counts as this: it is about what one turn of another process on the same core costs. */
  floorMs: 4,
  /** What a node's memory may grow by: the default of `HERALD_LIMIT_NODE_BACKLOG_BYTES`. */
  grownMebibytes: 1_024,
} as const;

/** Begins the name of a measure that must be 0, and then says what is wrong if it is not. */
export const wrongPrefix = "wrong: ";

/** What a siege came to: what is wrong, or nothing. */
export type Verdict = { ratio: number; wrongs: string[] };

/** Judges the rounds of one raid. A count of failed sends, memory and what attackers were told is judged in each round. */
export function judge(rounds: readonly Measures[]): Verdict {
  const ratio = median(rounds.map(ratioOf));
  const most = (name: string) => Math.max(0, ...rounds.map((round) => round[name] ?? 0));
  const wrongs: string[] = [];
  const hasVictim = rounds.some(({ calmP99Ms }) => calmP99Ms !== undefined); // on the bus there is none
  if (hasVictim && !(ratio <= asked.ratio)) wrongs.push("waits");
  if (most("victimFailed") > 0) wrongs.push("failed sends");
  if (most("grownMebibytes") > asked.grownMebibytes) wrongs.push("memory");
  if (most("died") > 0) wrongs.push("the node died");
  if (rounds.some(({ told, mustBeTold }) => told === 0 && mustBeTold === 1)) wrongs.push("not told");
  const names = new Set(rounds.flatMap((round) => Object.keys(round)).filter((name) => name.startsWith(wrongPrefix)));
  for (const name of names) if (most(name) > 0) wrongs.push(name.slice(wrongPrefix.length));
  return { ratio, wrongs };
}

/** The victim's p99 under attack by its undisturbed one, of one round. */
function ratioOf({ p99Ms = Number.POSITIVE_INFINITY, calmP99Ms = Number.NaN }: Measures): number {
  return p99Ms / Math.max(calmP99Ms, asked.floorMs);
}
