import type { Measures, Series } from "../../harness/report/rounds.ts";
import { median } from "../../harness/report/statistics.ts";
import { heardIn } from "../play.ts";
import { judge } from "./verdict.ts";

/** The rounds of each raid on each store, by contender: `herald` and `before`. */
export type SiegeSeries = Record<string, Series>;

/** The title of the series of a raid on a store. */
export function titleOf(raid: string, store: string): string {
  return `siege: ${raid}, ${store}`;
}

/** One line per raid and contender with everything measured, for those watching. */
export function renderRuns(title: string, series: Series): string {
  return Object.entries(series)
    .map(([contender, rounds]) => `${title} (${contender}): ${describe(rounds)}`)
    .join("\n");
}

function describe(rounds: readonly Measures[]): string {
  const of = (name: string) => median(rounds.map((round) => round[name] ?? Number.NaN));
  const { ratio, wrongs } = judge(rounds);
  const heard = heardIn(rounds.at(-1) ?? {}).map(([what, times]) => `${times.toLocaleString("en-US")} × ${what}`);
  const extra = Object.entries(rounds.at(-1) ?? {}).filter(([name]) => /^(wrong|seen|victim): /.test(name));
  const verdict = wrongs.length === 0 ? "HOLDS" : `NO: ${wrongs.join(", ")}`;
  if (rounds.every(({ calmP99Ms }) => calmP99Ms === undefined)) return verdict; // raids on the bus have no victim
  return [
    `calm ${ms(of("calmP50Ms"))}/${ms(of("calmP99Ms"))}`,
    `attacked ${ms(of("p50Ms"))}/${ms(of("p99Ms"))}/${ms(of("maxMs"))}`,
    `ratio ${short(ratio)}`,
    `failed ${of("victimFailed")} of ${of("victimSends")}`,
    `memory +${short(of("grownMebibytes"))} MiB to ${short(of("peakMebibytes"))}`,
    `node ${short(of("nodeCores"))} cores`,
    `bare route ${ms(of("besideCalmP99Ms"))} → ${ms(of("besideP99Ms"))}`,
    `heard ${heard.join(", ") || "nothing"}`,
    ...extra.map(([name, value]) => `${name} ${short(value)}`),
    verdict,
  ].join("; ");
}

/** Formats milliseconds, or seconds if there are many. */
export function ms(value: number): string {
  if (!Number.isFinite(value)) return "none";
  return value >= 1_000 ? `${short(value / 1_000)} s` : `${short(value)} ms`;
}

/** Formats two significant digits: a siege is no more precise. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(2)));
}
