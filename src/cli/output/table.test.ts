import { expect, test } from "bun:test";
import { createStyle, type Output } from "./output.ts";
import { type Column, createTable, cut, fitWidths } from "./table.ts";

type Row = { id: string; name: string };

const columns: Column<Row>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name },
];

/** The lines of a table that is printed in parts, on a terminal of this width, or elsewhere. */
function printed(parts: Row[][], width?: number, shown = columns): string[] {
  const lines: string[] = [];
  const output: Output = {
    result: (line) => void lines.push(line),
    json: () => undefined,
    note: () => undefined,
    resultStyle: createStyle(false),
    noteStyle: createStyle(false),
    isTerminal: width !== undefined,
    width,
  };
  const { print } = createTable(shown, output);
  for (const part of parts) print(part);
  return lines;
}

test("columns are as wide as their cells, and nothing ends with blanks", () => {
  const rows = [
    { id: "a", name: "" },
    { id: "longer", name: "Name" },
  ];
  expect(printed([rows])).toEqual(["ID      NAME", "a", "longer  Name"]);
});

test("without a terminal, cells are complete, however long", () => {
  const name = "x".repeat(500);
  expect(printed([[{ id: "a", name }]])).toEqual(["ID  NAME", `a   ${name}`]);
});

test("on a terminal, the widest column is cut, with a mark, and lines fit", () => {
  const rows = [{ id: "a-rather-long-id", name: "x".repeat(500) }];
  const lines = printed([rows], 40);
  expect(lines).toEqual(["ID                NAME", `a-rather-long-id  ${"x".repeat(21)}…`]);
  for (const width of [1, 5, 12, 20, 39]) {
    for (const line of printed([rows], width)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
  }
});

test("a column that is cut first gives way to the others, as long as that is enough", () => {
  const text = { title: "TEXT", cell: ({ name }: Row) => name, isCutFirst: true } as const;
  const row = { id: "0123456789012345678901234567890123456789", name: "some words" };
  expect(printed([[row]], 50, [columns[0] ?? text, text])[1]).toBe(`${row.id}  some wo…`);
  expect(printed([[row]], 40, [columns[0] ?? text, text])[1]).toBe("012345678901234567890123456…  some words");
});

test("wide and joined characters count as the terminal shows them", () => {
  expect(cut("日本語テキスト", 7)).toBe("日本語…");
  expect(cut("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…");
  expect(printed([[{ id: "日本", name: "x" }]])).toEqual(["ID    NAME", "日本  x"]);
});

test("the headings are printed once, and later parts keep the columns of the first", () => {
  const parts = [[{ id: "wider", name: "n" }], [{ id: "a", name: "m" }]];
  expect(printed(parts)).toEqual(["ID     NAME", "wider  n", "a      m"]);
});

test("a cell cannot control the terminal", () => {
  expect(printed([[{ id: "a\u001b[31m\nb", name: "" }]])[1]).toBe("a\\u001b[31m\\u000ab");
});

test("widths sum up to the line, and narrow columns stay as they are", () => {
  expect(fitWidths([5, 100, 100], 80)).toEqual([5, 36, 35]);
  expect(fitWidths([5, 10], 80)).toEqual([5, 10]);
  expect(fitWidths([50, 50], 10)).toEqual([6, 6]);
});
