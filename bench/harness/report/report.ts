import { ratiosOf, type Series, valuesOf } from "./rounds.ts";
import { median } from "./statistics.ts";

/** One row of the table: a figure of Herald beside the same figure of a floor, measured in the same rounds. */
export type Row = {
  figure: string;
  unit: string;
  herald: number;
  floor: string;
  floorValue: number;
  /** The median of the rounds' ratios, Herald's figure divided by the floor's. */
  ratio: number;
  /** The target of the ratio, if any. */
  target?: Target;
};

/** The required range of a ratio. */
export type Target = { atLeast: number } | { atMost: number };

type Comparison = {
  figure: string;
  unit: string;
  /** The name of the measure in the runs. */
  measure: string;
  floor: string;
  target?: Target;
};

/** Compares Herald with the floor `floor` of the same series. */
export function compare(series: Series, { measure, floor, ...row }: Comparison): Row {
  const herald = valuesOf(series, "herald", measure);
  const floors = valuesOf(series, floor, measure);
  const ratios = ratiosOf(series, "herald", floor, measure);
  return { ...row, herald: median(herald), floor, floorValue: median(floors), ratio: median(ratios) };
}

/** Renders the rows as a Markdown table. */
export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ figure, unit, herald, floor, floorValue, ratio, target }) =>
      `| ${figure} | ${inUnit(herald, unit)} | ${floor} | ${inUnit(floorValue, unit)} | ${toDigits(ratio)} | ${verdict(ratio, target)} |`,
  );
  return ["| Figure | Herald | Floor | Floor's figure | Ratio | Asked |", "|---|--:|---|--:|--:|---|", ...lines].join(
    "\n",
  );
}

/** Renders a Markdown table. */
export function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const markers = ["<!-- figures: begin -->", "<!-- figures: end -->"] as const;

/** The part of the page between its markers. */
export function sectionOf(page: string): string {
  const [from, to] = placeOf(page);
  return page.slice(from, to);
}

/** Replaces the part of the page between its markers by `section`. */
export function withSection(page: string, section: string): string {
  const [from, to] = placeOf(page);
  return `${page.slice(0, from)}\n${section}\n${page.slice(to)}`;
}

function placeOf(page: string): [from: number, to: number] {
  const [begin, end] = markers;
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no section between ${begin} and ${end}`);
  return [from + begin.length, to];
}

function verdict(ratio: number, target: Target | undefined): string {
  if (target === undefined) return "";
  if ("atMost" in target) return `≤ ${target.atMost}: ${ratio <= target.atMost ? "yes" : "**no**"}`;
  return `≥ ${target.atLeast}: ${ratio >= target.atLeast ? "yes" : "**no**"}`;
}

function inUnit(value: number, unit: string): string {
  return `${toDigits(value)} ${unit}`;
}

/** Formats three significant digits: a single run is no more precise. */
export function toDigits(value: number): string {
  if (value >= 1_000_000) return `${toDigits(value / 1_000_000)} M`;
  if (value >= 1_000) return `${toDigits(value / 1_000)} k`;
  return String(Number(value.toPrecision(3)));
}
