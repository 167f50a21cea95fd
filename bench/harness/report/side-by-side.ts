import { type Series, valuesOf } from "./rounds.ts";
import { median } from "./statistics.ts";

/** The label and unit of each measure in the table, by its name in the runs. */
export type Measured = Readonly<Record<string, readonly [what: string, unit: string]>>;

/**
 * Renders contenders side by side as a Markdown table: median, minimum and maximum of each measure; for two, also the
 * median of the rounds' ratios.
 */
export function renderSideBySide(title: string, series: Series, measured: Measured): string {
  const names = Object.keys(series);
  const [first = "", second] = names;
  const lines = Object.entries(measured).map(([measure, [what, unit]]) => {
    const cells = names.map((name) => cellOf(valuesOf(series, name, measure), unit));
    return `| ${[what, ...cells, ...(second === undefined ? [] : [ratioOf(first, second, measure)])].join(" | ")} |`;
  });
  const heads = [title, ...names, ...(second === undefined ? [] : [`${first} ÷ ${second}`])];
  return [`| ${heads.join(" | ")} |`, `|---${"|--:".repeat(heads.length - 1)}|`, ...lines].join("\n");

  function ratioOf(left: string, right: string, measure: string): string {
    const divisors = valuesOf(series, right, measure);
    const ratios = valuesOf(series, left, measure).map((value, round) => value / (divisors[round] ?? Number.NaN));
    const ratio = median(ratios);
    return Number.isFinite(ratio) ? short(ratio) : "";
  }
}

function cellOf(values: readonly number[], unit: string): string {
  if (values.length === 1) return `${short(values[0] ?? Number.NaN)} ${unit}`.trim();
  return `${short(median(values))} ${unit} (${short(Math.min(...values))} – ${short(Math.max(...values))})`;
}

/** Formats three significant digits, but whole numbers in full. */
function short(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}
