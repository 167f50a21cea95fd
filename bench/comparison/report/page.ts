import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { table, toDigits, withSection } from "../../harness/report/report.ts";
import { readRuns } from "../../harness/report/results.ts";
import { valuesOf } from "../../harness/report/rounds.ts";
import { renderSetting } from "../../harness/report/setting.ts";
import { median } from "../../harness/report/statistics.ts";
import { renderChart } from "./chart.ts";
import {
  busyOf,
  type Figure,
  figuresOf,
  type LoadResults,
  loadsOf,
  own,
  type PeerResults,
  peakOf,
  type Standing,
  standingsOf,
} from "./figures.ts";

const explanation = resolve(import.meta.dir, "../../../docs/explanation");
const [page, chart] = [resolve(explanation, "performance.md"), resolve(explanation, "performance.svg")];

/** Writes the section of the page and its chart from the newest results, and returns their paths. */
export function writePage(): string[] {
  const files = renderFiles();
  for (const [path, text] of files) writeFileSync(path, text);
  return files.map(([path]) => path);
}

/** The newest results. Throws if nothing was saved. */
export function readNewest(): { file: string; runs: PeerResults } {
  const [newest] = readRuns<PeerResults>(/-peers\.json$/);
  if (newest === undefined) throw new Error("no results of peers: npm run bench:peers -- --save");
  return newest;
}

/** The page and its chart as the newest results make them, by path. */
export function renderFiles(): [path: string, text: string][] {
  const { file, runs } = readNewest();
  const durabilities = new Map(runs.peers.map(({ name, durability }) => [name, durability]));
  return [
    [page, withSection(readFileSync(page, "utf8"), `\n${renderSection(file, runs)}\n`)],
    [chart, renderChart(figuresOf(runs), durabilities)],
  ];
}

/** Renders the tables: how the others stand to Herald, every load, and the servers with their settings. */
export function renderSection(file: string, results: PeerResults): string {
  const { setting, pace } = results;
  const rounds = Object.values(loadsOf(results).one.series)[0]?.length;
  const runs = pace === undefined ? "" : ` of ${pace.runMs / 1000} s`;
  return [
    `${renderSetting(setting)}; medians of ${rounds} rounds${runs}, in parentheses the least and the most. Every run is in \`${file}\`.`,
    "### How the others stand to Herald",
    "The factor is the better median divided by the worse. A server is too close to call if its rounds overlap with Herald's.",
    table(["", own, "Ahead of Herald", "Too close to call", "Behind Herald"], figuresOf(results).map(standingRow)),
    ...Object.values(loadsOf(results)).flatMap((load) => [`### ${load.title}`, renderLoad(load)]),
    "### The servers",
    renderServers(results),
  ].join("\n\n");
}

function standingRow(figure: Figure): string[] {
  const standings = standingsOf(figure).sort((left, right) => right.factor - left.factor);
  const namesAt = (place: Standing["place"]) => {
    const found = standings.filter((standing) => standing.place === place);
    return found.map(({ name, factor }) => `${name} (${toDigits(factor)} ×)`).join(", ") || "none";
  };
  const value = `${toDigits(median(figure.values.get(own) ?? []))} ${figure.unit}`;
  return [figure.what, value, namesAt("ahead"), namesAt("close"), namesAt("behind")];
}

function renderLoad({ measured, series }: LoadResults): string {
  const measures = Object.entries(measured).filter(([measure]) => measure !== "peakMebibytes");
  const head = measures.map(([, [what, unit]]) => (unit === "" ? what : `${what} (${unit})`));
  const rows = Object.entries(series).map(([name, runs]) => {
    const cells = measures.map(([measure]) => cellOf(valuesOf(series, name, measure)));
    return [name, ...cells, cellOf(runs.map(busyOf))];
  });
  return table(["", ...head, "the server's core busy"], rows);
}

function cellOf(values: readonly number[]): string {
  return `${toDigits(median(values))} (${toDigits(Math.min(...values))} – ${toDigits(Math.max(...values))})`;
}

function renderServers(results: PeerResults): string {
  const rows = results.peers.map(({ name, version, durability, settings }) => {
    return [name, version, durability, toDigits(peakOf(results, name)), settings];
  });
  return table(["", "Version", "Before the answer", "Peak memory (MiB)", "Settings"], rows);
}
