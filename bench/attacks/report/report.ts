import type { Measures, Series } from "../../harness/report/rounds.ts";
import { median } from "../../harness/report/statistics.ts";
import { heardIn } from "../run.ts";
import { hasVictim, judge } from "./verdict.ts";

/** The rounds of each attack on each store, by contender: `herald` and `before`. */
export type AttackSeries = Record<string, Series>;

/** The title of the series of an attack on a store. */
export function titleOf(attack: string, store: string): string {
  return `attack: ${attack}, ${store}`;
}

/** One line per attack and contender with everything measured, for those watching. */
export function renderRuns(title: string, series: Series, seconds: number): string {
  return Object.entries(series)
    .map(([contender, rounds]) => `${title} (${contender}): ${describe(rounds, seconds)}`)
    .join("\n");
}

function describe(rounds: readonly Measures[], seconds: number): string {
  const of = (name: string) => median(rounds.map((round) => round[name] ?? Number.NaN));
  const { wrongs } = judge(rounds);
  const heard = heardIn(rounds.at(-1) ?? {}).map(([what, times]) => `${times.toLocaleString("en-US")} × ${what}`);
  const extra = Object.entries(rounds.at(-1) ?? {}).filter(([name]) => /^(wrong|seen|victim): /.test(name));
  const verdict = wrongs.length === 0 ? "HOLDS" : `NO: ${wrongs.join(", ")}`;
  if (!rounds.some(hasVictim)) return verdict;
  return [
    `undisturbed ${ms(of("calmP50Ms"))}/${ms(of("calmP99Ms"))}`,
    `attacked ${ms(of("p50Ms"))}/${ms(of("p99Ms"))}/${ms(of("maxMs"))}`,
    `failed ${of("victimFailed")} of ${of("victimSends")}`,
    `attackers ${throughputOf(rounds, seconds)}`,
    `memory +${short(of("grownMebibytes"))} MiB to ${short(of("peakMebibytes"))}`,
    `node ${short(of("nodeCores"))} cores`,
    `bare route ${ms(of("besideCalmP99Ms"))} → ${ms(of("besideP99Ms"))}`,
    `a flush of the disk ${ms(of("flushP99Ms"))}`,
    `heard ${heard.join(", ") || "nothing"}`,
    ...extra.map(([name, value]) => `${name} ${short(value)}`),
    verdict,
  ].join("; ");
}

/**
 * What attackers got done in a second of so many, in the median round: answers and frames that are no refusals, lines,
 * and megabytes.
 */
export function throughputOf(rounds: readonly Measures[], seconds: number): string {
  const perSecond = (kind: RegExp, unit = 1) => {
    const counts = rounds.map((round) => heardIn(round).filter(([what]) => kind.test(what)));
    return median(counts.map((found) => found.reduce((sum, [, times]) => sum + times, 0))) / unit / seconds;
  };
  const parts = [
    [perSecond(/^(HTTP (?!429|503)\d+|frames)$/), "answers/s"],
    [perSecond(/^lines /), "lines/s"],
    [perSecond(/^bytes (read|of answers)$/, 1e6), "MB/s"],
  ] as const;
  const done = parts.filter(([count]) => count > 0).map(([count, unit]) => `${short(count)} ${unit}`);
  return done.join(", ") || "nothing";
}

/** Formats milliseconds, or seconds if there are many. */
export function ms(value: number): string {
  if (!Number.isFinite(value)) return "none";
  return value >= 1_000 ? `${short(value / 1_000)} s` : `${short(value)} ms`;
}

/** Formats two significant digits: the figures are no more precise. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(2)));
}
