import { ratiosOf, type Series, valuesOf } from "./rounds.ts";
import { meanRatio, median } from "./statistics.ts";

/** The label and unit of each measure in the table, by its name in the runs. */
export type Measured = Readonly<Record<string, readonly [what: string, unit: string]>>;

/** Sums up the ratios of all runs. */
type Summary = (ratios: readonly number[]) => string;

/**
 * Renders contenders side by side as a Markdown table: median, minimum and maximum of each measure; for two, also the
 * median of the rounds' ratios.
 */
export function renderSideBySide(title: string, series: Series, measured: Measured): string {
  return renderWithRatio(title, series, measured, (ratios) => {
    const ratio = median(ratios);
    return Number.isFinite(ratio) ? short(ratio) : "";
  });
}

/**
 * Renders two contenders of which each pair of processes was measured `runsOfPair` times: like `renderSideBySide`, but with the
 * geometric mean of the ratios and its standard error, for which each pair counts once.
 */
export function renderPairs(title: string, series: Series, measured: Measured, runsOfPair: number): string {
  return renderWithRatio(title, series, measured, (ratios) => {
    const pairs = Array.from({ length: ratios.length / runsOfPair }, (_, pair) => {
      return meanRatio(ratios.slice(pair * runsOfPair, (pair + 1) * runsOfPair)).mean;
    });
    const { mean, standardError } = meanRatio(pairs);
    if (!Number.isFinite(mean)) return "";
    return `${mean.toFixed(3)}${Number.isFinite(standardError) ? ` ± ${standardError.toFixed(3)}` : ""}`;
  });
}

function renderWithRatio(title: string, series: Series, measured: Measured, summarize: Summary): string {
  const names = Object.keys(series);
  const [first = "", second] = names;
  const lines = Object.entries(measured).map(([measure, [what, unit]]) => {
    const cells = names.map((name) => cellOf(valuesOf(series, name, measure), unit));
    if (second !== undefined) cells.push(summarize(ratiosOf(series, first, second, measure)));
    return `| ${[what, ...cells].join(" | ")} |`;
  });
  const heads = [title, ...names, ...(second === undefined ? [] : [`${first} ÷ ${second}`])];
  return [`| ${heads.join(" | ")} |`, `|---${"|--:".repeat(heads.length - 1)}|`, ...lines].join("\n");
}

function cellOf(values: readonly number[], unit: string): string {
  if (values.length === 1) return `${short(values[0] ?? Number.NaN)} ${unit}`.trim();
  return `${short(median(values))} ${unit} (${short(Math.min(...values))} – ${short(Math.max(...values))})`;
}

/** Formats three significant digits, but whole numbers in full. */
function short(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}
