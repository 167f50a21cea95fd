import type { Output } from "./output.ts";
import { printableLine } from "./printable.ts";

/** A column of a table. `isCutFirst`: its cells may lose their ends before ids and times do. */
export type Column<Row> = { title: string; cell: (row: Row) => string; isCutFirst?: true };

const gap = "  ";
/** The narrowest a column becomes: some characters and the mark of what was cut. */
const leastWidth = 6;
const cutMark = "…";

/**
 * Creates a table that is printed in parts, each below the other, with its headings above the first one. On a terminal no line is longer than it is wide: columns
 * that are cut first give way, then the widest. Elsewhere, cells are complete.
 */
export function createTable<Row>(columns: readonly Column<Row>[], output: Output) {
  let widths: readonly number[] = [];
  return {
    print(rows: readonly Row[]): void {
      const cells = rows.map((row) => columns.map(({ cell }) => printableLine(cell(row))));
      const titles = columns.map(({ title }) => title);
      const isFirst = widths.length === 0;
      widths = widthsOf(isFirst ? [titles, ...cells] : cells, widths);
      const shown = output.width === undefined ? widths : fitColumns(columns, widths, output.width);
      const print = (row: readonly string[], style = (text: string) => text) => {
        const line = lineOf(row, shown);
        output.result(style(output.width === undefined ? line : cut(line, output.width)));
      };
      if (isFirst) print(titles, output.resultStyle.bold);
      for (const row of cells) print(row);
    },
  };
}

/** The widths that cells need, at least those of the part before. */
function widthsOf(rows: readonly string[][], before: readonly number[]): number[] {
  const count = rows[0]?.length ?? before.length;
  return Array.from({ length: count }, (_, index) =>
    rows.reduce((most, row) => Math.max(most, Bun.stringWidth(row[index] ?? "")), before[index] ?? 0),
  );
}

/** Narrows the columns that are cut first or, if that is not enough, any of them. */
function fitColumns(
  columns: readonly Pick<Column<never>, "isCutFirst">[],
  widths: readonly number[],
  lineWidth: number,
): number[] {
  const isFirst = columns.map(({ isCutFirst = false }) => isCutFirst);
  const first = widths.filter((_, index) => isFirst[index]);
  const rest = widths.filter((_, index) => !isFirst[index]);
  const space = lineWidth - rest.reduce((sum, width) => sum + width + gap.length, 0);
  const narrowed = fitWidths(first, space);
  const needed = narrowed.reduce((sum, width) => sum + width + gap.length, -gap.length);
  if (first.length === 0 || needed > space) return fitWidths(widths, lineWidth);
  return widths.map((width, index) => (isFirst[index] ? (narrowed.shift() ?? width) : width));
}

/** Narrows the widest columns until a line fits, but none below the least width. */
export function fitWidths(wanted: readonly number[], lineWidth: number): number[] {
  const available = lineWidth - gap.length * (wanted.length - 1);
  const total = (limit: number) => wanted.reduce((sum, width) => sum + Math.min(width, limit), 0);
  let limit = Math.max(leastWidth, ...wanted);
  while (limit > leastWidth && total(limit) > available) limit--;
  // What the last step took too much of goes to the first of the columns that were cut.
  let rest = available - total(limit);
  return wanted.map((width) => {
    const extra = width > limit && rest > 0 ? 1 : 0;
    rest -= extra;
    return Math.min(width, limit + extra);
  });
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, index) => {
    const width = widths[index] ?? 0;
    const text = cut(cell, width);
    return text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
  });
  return padded.join(gap).trimEnd();
}

/** The text, or as much of its beginning as fits, followed by `…`. Counts columns of a terminal, not characters. */
export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    if (Bun.stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return kept + cutMark;
}
