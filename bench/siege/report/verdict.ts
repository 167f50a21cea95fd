import type { Measures } from "../../harness/report/rounds.ts";
import { median } from "../../harness/report/statistics.ts";

/** The requirements on a victim's times and on a node's memory. */
export const asked = {
  /**
   * The maximum of the victim's p99 under attack divided by its undisturbed p99 in the same run: the median of the
   * rounds.
   */
  ratio: 3,
  /** The floor of the undisturbed p99: about the cost of one time slice of another process on the same core. */
  floorMs: 4,
  /** What a node's memory may grow by: the default of `HERALD_LIMIT_NODE_BACKLOG_BYTES`. */
  grownMebibytes: 1_024,
} as const;

/** Prefix of measures that must be 0; the rest of the name says what is wrong otherwise. */
export const wrongPrefix = "wrong: ";

/** The result of a siege: `wrongs` is empty if it holds. */
export type Verdict = { ratio: number; wrongs: string[] };

/** Judges the rounds of one raid. Failed sends, memory and what attackers were told are judged per round. */
export function judge(rounds: readonly Measures[]): Verdict {
  const ratio = median(rounds.map(ratioOf));
  const most = (name: string) => Math.max(0, ...rounds.map((round) => round[name] ?? 0));
  const wrongs: string[] = [];
  const hasVictim = rounds.some(({ calmP99Ms }) => calmP99Ms !== undefined); // raids on the bus have none
  if (hasVictim && !(ratio <= asked.ratio)) wrongs.push("waits");
  if (most("victimFailed") > 0) wrongs.push("failed sends");
  if (most("grownMebibytes") > asked.grownMebibytes) wrongs.push("memory");
  if (most("died") > 0) wrongs.push("the node died");
  if (rounds.some(({ told, mustBeTold }) => told === 0 && mustBeTold === 1)) wrongs.push("not told");
  const names = new Set(rounds.flatMap((round) => Object.keys(round)).filter((name) => name.startsWith(wrongPrefix)));
  for (const name of names) if (most(name) > 0) wrongs.push(name.slice(wrongPrefix.length));
  return { ratio, wrongs };
}

/** The victim's p99 under attack divided by its undisturbed one, in one round. */
function ratioOf({ p99Ms = Number.POSITIVE_INFINITY, calmP99Ms = Number.NaN }: Measures): number {
  return p99Ms / Math.max(calmP99Ms, asked.floorMs);
}
