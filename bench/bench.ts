// Measures one node of Herald beside its floors: `npm run bench`. See bench/README.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { cases } from "./cases/all.ts";
import type { Findings } from "./cases/case.ts";
import { costSeries, renderCosts } from "./harness/costs.ts";
import { renderTable, withSection } from "./harness/report.ts";
import type { Pace } from "./harness/rounds.ts";
import { createDataDir } from "./harness/servers.ts";
import { describeSetting, type Setting } from "./harness/setting.ts";

const usage = `npm run bench -- [--quick] [--only sends,deliveries,latency,pauses,siege,nodes,costs] [--rounds 5] [--patience 0] [--save] [--json]
  --quick   about half a minute: shows the table and writes nothing; leaves out costs, whose runs have a length of their own
  --only    these parts; shows the table and writes nothing
  --save    with --only: writes the runs to results/<date>-<revision>-<parts>.json
  --rounds  runs of each contender
  --patience  seconds that may be spent on waiting for the machine to be quiet
  --json    also prints every run`;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    rounds: { type: "string" },
    patience: { type: "string", default: "0" },
    save: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const fullPace = { rounds: 5, runMs: 1000, warmUpMs: 800 };
const quickPace = { rounds: 2, runMs: 350, warmUpMs: 300 };

async function measure(names: readonly string[], pace: Pace): Promise<Findings & { setting: Setting; pace: Pace }> {
  const dataDir = createDataDir();
  try {
    const setting = describeSetting(dataDir.path);
    const found: Findings = { series: {}, rows: [] };
    for (const name of names) {
      const run = cases[name];
      if (run === undefined) throw new Error(`there is no part ${name}\n${usage}`);
      console.error(`measuring ${name} …`);
      const folder = resolve(dataDir.path, name);
      mkdirSync(folder);
      const { series, rows } = await run(folder, pace);
      Object.assign(found.series, series);
      found.rows.push(...rows);
    }
    return { setting, pace, ...found };
  } finally {
    dataDir.remove();
  }
}

function describe({ setting, pace }: { setting: Setting; pace: Pace }): string {
  const { date, revision, isModified, machine, versions } = setting;
  return (
    `${date.slice(0, 10)}, revision ${revision}${isModified ? " with changes" : ""}, Bun ${versions.bun}, SQLite ${versions.sqlite}, ` +
    `${machine.cores} cores (${machine.cpu}), ${machine.fileSystem}; medians of ${pace.rounds} runs of ${pace.runMs / 1000} s.`
  );
}

async function main(): Promise<void> {
  if (options.help) return console.log(usage);
  const pace = options.quick ? quickPace : fullPace;
  const rounds = options.rounds === undefined ? pace.rounds : Number(options.rounds);
  const all = Object.keys(cases).filter((name) => !options.quick || name !== "costs");
  const names = options.only?.split(",") ?? all;
  const findings = await measure(names, { ...pace, rounds, patience: { ms: Number(options.patience) * 1000 } });
  const tables = [describe(findings)];
  if (findings.rows.length > 0) tables.push(renderTable(findings.rows));
  const costs = findings.series[costSeries.title];
  if (costs !== undefined) tables.push(renderCosts(costs));
  const section = tables.join("\n\n");
  console.log(section);
  if (options.json) console.log(JSON.stringify(findings.series, undefined, 1));
  const isWhole = !options.quick && options.only === undefined;
  if (!isWhole && !options.save) return;

  const { date, revision } = findings.setting;
  const results = resolve(import.meta.dir, "results");
  mkdirSync(results, { recursive: true });
  const name = [date.slice(0, 10), revision === "" ? "unversioned" : revision, ...(isWhole ? [] : names)].join("-");
  const file = resolve(results, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(findings, undefined, 2)}\n`);
  console.error(`written: ${file}`);
  if (!isWhole) return;
  const readme = resolve(import.meta.dir, "README.md");
  writeFileSync(readme, withSection(readFileSync(readme, "utf8"), `\n${section}\n`));
  console.error(`written: ${readme}`);
}

await main();
process.exit(0); // the peers' pipes would keep the process alive
