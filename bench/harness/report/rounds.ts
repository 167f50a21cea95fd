import { startMeter } from "../meter.ts";

/** What one run measured, by the name of the figure. */
export type Measures = Record<string, number>;

/** Something measured beside others. `run` takes about `ms`. */
export type Contender = { name: string; run(ms: number): Promise<Measures> };

/** Every run of every contender, in the order of the rounds. */
export type Series = Record<string, Measures[]>;

/**
 * How long and how often to measure. `patience`, shared by all parts of a bench, is how many more milliseconds may be
 * spent waiting for the rest of the machine to be quiet.
 */
export type Pace = { rounds: number; runMs: number; warmUpMs: number; patience: { ms: number } };

const restMs = 100;
const quietBusy = 0.15;

/**
 * Runs the contenders in turn, round after round (A B C A B C …), so that changes on the machine affect all of them. A
 * first, shorter round warms up and is not counted.
 */
export async function inRounds(
  contenders: readonly Contender[],
  { rounds, runMs, warmUpMs, patience }: Pace,
): Promise<Series> {
  const series: Series = {};
  for (const { run } of contenders) await run(warmUpMs);
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of contenders) {
      await rest(patience);
      const measures = await run(runMs);
      series[name] = [...(series[name] ?? []), measures];
    }
  }
  return series;
}

/** Pauses between two runs, and longer while something else keeps the machine busy and there is patience left. */
async function rest(patience: { ms: number }): Promise<void> {
  for (;;) {
    const stopMeter = startMeter(process.pid);
    await Bun.sleep(restMs);
    const { others, elapsedMs } = stopMeter();
    if (others < quietBusy || patience.ms <= 0) return;
    patience.ms -= elapsedMs;
  }
}

/** The values of one figure of one contender, by run. */
export function valuesOf(series: Series, contender: string, figure: string): number[] {
  return (series[contender] ?? []).map((measures) => measures[figure] ?? Number.NaN);
}

/** The ratios of one figure of two contenders, by run: the first divided by the second. */
export function ratiosOf(series: Series, left: string, right: string, figure: string): number[] {
  const divisors = valuesOf(series, right, figure);
  return valuesOf(series, left, figure).map((value, run) => value / (divisors[run] ?? Number.NaN));
}
