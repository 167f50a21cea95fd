import { sectionOf, withSection } from "../../../bench/harness/report/report.ts";
import { type Judged, renderReport } from "./report.ts";

const headLines = 2;

/** Replaces the table of the page by that of a run of all scenarios. `where` says when, and on what, it was played. */
export function withAll(page: string, results: readonly Judged[], where: string): string {
  return withSection(page, `\n${where}\n\n${renderReport(results)}\n`);
}

/**
 * Replaces the rows of some scenarios, or adds them in the order of `rows`, and notes below the table where these were
 * played. All else stays.
 */
export function withSome(page: string, results: readonly Judged[], where: string, rows: readonly string[]): string {
  const lines = sectionOf(page).split("\n");
  const isRow = (line: string) => line.startsWith("| ");
  const table = lines.filter(isRow);
  const added = renderReport(results).split("\n").filter(isRow);
  const lineOf = new Map([...table.slice(headLines), ...added.slice(headLines)].map((line) => [rowOf(line), line]));
  const known = rows.flatMap((row) => lineOf.get(row) ?? []);
  const others = [...lineOf.values()].filter((line) => !known.includes(line));
  const isOver = (line: string) => results.some(({ name }) => line.includes(`\`${name}\``));
  const notes = lines.filter((line) => line.startsWith("- ") && !isOver(line));
  const own = results.map(({ name }) => `- \`${name}\`: ${where}`);
  const first = lines.filter((line) => line !== "" && !isRow(line) && !line.startsWith("- "));
  const parts = [...first, "", ...table.slice(0, headLines), ...known, ...others, "", ...notes, ...own];
  return withSection(page, `\n${parts.join("\n")}\n`);
}

function rowOf(line: string): string {
  return line.split(" | ")[0]?.slice("| ".length) ?? "";
}
