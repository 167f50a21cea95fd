import { type CostName, costNames, costSeries } from "../harness/report/costs.ts";
import { readRuns } from "../harness/report/results.ts";
import type { Series } from "../harness/report/rounds.ts";
import type { Setting } from "../harness/report/setting.ts";
import { median } from "../harness/report/statistics.ts";

/** Every cost in the unit given by the catalogue: bytes, microseconds of CPU, milliseconds. */
export type Costs = Readonly<Record<CostName, number>>;

/** Costs with where and when they were measured. */
export type KnownCosts = { costs: Costs; series: Series; rounds: number; setting: Setting; file: string };

/** What `npm run bench` saves; results of other programs have no series. */
type Results = { setting: Setting; series?: Record<string, Series> };

/** Reads the costs from the newest results that contain them. Throws if there are none. */
export function readKnownCosts(): KnownCosts {
  const [newest] = readRuns<Results>(/\.json$/).flatMap(({ file, runs: { setting, series } }) => {
    const found = series?.[costSeries.title];
    if (found === undefined) return [];
    const rounds = found[costSeries.contender]?.length ?? 0;
    return [{ costs: costsOf(found), series: found, rounds, setting, file }];
  });
  if (newest === undefined) throw new Error("no results hold costs: npm run bench -- --only costs --save");
  return newest;
}

/** The medians over the rounds of a series. Throws if a cost was not measured. */
export function costsOf(series: Series): Costs {
  const runs = series[costSeries.contender] ?? [];
  const entries = costNames().map((name) => {
    const value = median(runs.map((run) => run[name] ?? Number.NaN));
    if (!(value >= 0)) throw new Error(`the results hold no cost ${name}: ${value}`);
    return [name, value];
  });
  return Object.fromEntries(entries) as Costs; // fromEntries loses the names
}
