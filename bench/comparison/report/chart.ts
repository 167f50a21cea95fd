import { toDigits } from "../../harness/report/report.ts";
import { median } from "../../harness/report/statistics.ts";
import type { Durability } from "../peer.ts";
import { type Figure, own } from "./figures.ts";

const margin = 20;
const columns = 2;
const panelWidth = 440;
const [namesWidth, valuesWidth] = [172, 78];
const barsWidth = panelWidth - namesWidth - valuesWidth;
const [titleHeight, rowHeight, barHeight, gap] = [40, 20, 12, 24];
const legendHeight = 84;
const width = columns * panelWidth + (columns + 1) * margin;

const looks: Readonly<Record<Durability, string>> = {
  flushed: "flushed",
  "on disk, not flushed": "on-disk",
  "in memory": "in-memory",
};

/** How each kind of bar is explained, and where in the legend. */
const legend: readonly (readonly [look: string, text: string, x: number])[] = [
  ["flushed", "flushed to the disk before the answer", 0],
  ["on-disk", "on disk, not flushed", 310],
  ["in-memory", "in memory only", 500],
];

// A page shows the file as <img>, so it brings its own background, and follows the system's theme and not the page's.
const style = `
  svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --others: #8c959f; --own: #0969da; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --others: #767f89; --own: #388bfd; }
  }
  text { font: 12px system-ui, "Segoe UI", "Helvetica Neue", "Liberation Sans", sans-serif; fill: var(--ink); }
  .paper { fill: var(--paper); stroke: none; }
  .title { font-size: 14px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .own { color: var(--own); }
  .own text { font-weight: 600; }
  .others { color: var(--others); }
  rect { fill: currentColor; stroke: currentColor; }
  .on-disk { fill-opacity: 0.4; }
  .in-memory { fill-opacity: 0; }
  .end { text-anchor: end; }
  path { fill: none; stroke: var(--ink); stroke-width: 1.25; }
`;

/**
 * Draws the figures as bars in one SVG, for light and for dark pages: the best median first, with a line from the least to the
 * most. How a bar is filled tells how its server stores messages.
 */
export function renderChart(figures: readonly Figure[], durabilities: ReadonlyMap<string, Durability>): string {
  const panelHeight = titleHeight + durabilities.size * rowHeight + gap;
  const height = legendHeight + Math.ceil(figures.length / columns) * panelHeight;
  const panels = figures.map((figure, index) => {
    const x = margin + (index % columns) * (panelWidth + margin);
    const y = legendHeight + Math.floor(index / columns) * panelHeight;
    return group(x, y, panelOf(figure, durabilities));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${own} beside other servers</title>`,
    `<style>${style}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    group(margin, margin, legendLines()),
    ...panels,
    "</svg>\n",
  ].join("\n");
}

function legendLines(): string[] {
  const kinds = legend.flatMap(([look, text, x]) => [
    `<rect class="${look}" x="${x}" width="24" height="${barHeight}"/>`,
    textAt(x + 32, 10, text),
  ]);
  const note =
    "Bars are medians; the thin line reaches from the lowest to the highest round. The best server is on top.";
  return [`<g class="others">`, ...kinds, "</g>", textAt(0, 34, note, "faint")];
}

function panelOf({ what, unit, better, values }: Figure, durabilities: ReadonlyMap<string, Durability>): string[] {
  const bars = [...values]
    .map(([name, rounds]) => ({ name, middle: median(rounds), least: Math.min(...rounds), most: Math.max(...rounds) }))
    .sort((left, right) => (better === "more" ? right.middle - left.middle : left.middle - right.middle));
  const longest = Math.max(...bars.map(({ most }) => most));
  const lengthOf = (value: number) => Math.round((value / longest) * barsWidth * 10) / 10;
  const rows = bars.map(({ name, middle, least, most }, index) => {
    const look = looks[durabilities.get(name) ?? "in memory"];
    return group(0, titleHeight + index * rowHeight, [
      `<g class="${name === own ? "own" : "others"}">`,
      textAt(namesWidth - 8, 10, name, "end"),
      `<rect class="${look}" x="${namesWidth}" width="${lengthOf(middle)}" height="${barHeight}"/>`,
      textAt(panelWidth, 10, `${toDigits(middle)} ${unit}`, "end"),
      "</g>",
      ...(least === most ? [] : [rangeOf(namesWidth + lengthOf(least), namesWidth + lengthOf(most))]),
    ]);
  });
  return [textAt(0, 12, what, "title"), textAt(0, 28, `${better} is better`, "faint"), ...rows];
}

function rangeOf(from: number, to: number): string {
  const middle = barHeight / 2;
  return `<path d="M${from} ${middle - 3}v6M${from} ${middle}H${to}M${to} ${middle - 3}v6"/>`;
}

function textAt(x: number, y: number, text: string, kind?: string): string {
  return `<text x="${x}" y="${y}"${kind === undefined ? "" : ` class="${kind}"`}>${Bun.escapeHTML(text)}</text>`;
}

function group(x: number, y: number, lines: readonly string[]): string {
  return `<g transform="translate(${x} ${y})">\n${lines.join("\n")}\n</g>`;
}
