// Measures one node of Herald beside its floors: `npm run bench`. See bench/README.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { cases, onRequest } from "./cases/all.ts";
import type { Findings, Wishes } from "./cases/case.ts";
import { revisionOf } from "./harness/checkouts.ts";
import { costSeries, renderCosts } from "./harness/report/costs.ts";
import { renderTable, withSection } from "./harness/report/report.ts";
import { saveRuns } from "./harness/report/results.ts";
import type { Pace } from "./harness/report/rounds.ts";
import { describeSetting, renderSetting, type Setting } from "./harness/report/setting.ts";
import { createDataDir } from "./harness/servers.ts";

const usage = `npm run bench -- [--quick] [--only sends,deliveries,latency,pauses,strangers,nodes,costs] [--rounds 5] [--patience 0] [--save] [--json]
npm run bench -- --only waits,fairness [--rounds 8]
npm run bench -- --only regression --against ../other-checkout [--rounds 8]
npm run bench -- --only inboxes [--rounds 5]
npm run bench -- --only growth [--rounds 3] [--size 10000000]
npm run bench -- --only idle,storm,replay,everyone [--against ../other-checkout] [--size 10000] [--sqlite] [--database-share 0.1]
  --quick   about half a minute: shows the table and writes nothing; leaves out costs, whose runs have a length of their own
  --only    these parts; shows the table and writes nothing
  --save    with --only: writes the runs to results/<date>-<revision>-<parts>.json
  --against the folder of another checkout, installed, that regression, idle, storm and replay measure beside this one, by turns
  --size    connections of idle, storm and everyone; events of growth
  --sqlite  storm and replay without PostgreSQL
  --database-share  the share of a core that PostgreSQL may have in storm
  --rounds  runs of each contender
  --patience  seconds that may be spent on waiting for the machine to be quiet
  --json    also prints every run`;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    against: { type: "string" },
    size: { type: "string" },
    sqlite: { type: "boolean", default: false },
    "database-share": { type: "string" },
    rounds: { type: "string" },
    patience: { type: "string", default: "0" },
    save: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const fullPace = { rounds: 5, runMs: 1000, warmUpMs: 800 };
const quickPace = { rounds: 2, runMs: 350, warmUpMs: 300 };

type Measured = Required<Findings> & { setting: Setting; pace: Pace; against?: string };

async function measure(names: readonly string[], pace: Pace, wishes: Wishes): Promise<Measured> {
  const dataDir = createDataDir();
  try {
    const setting = describeSetting(dataDir.path);
    const found: Required<Findings> = { series: {}, rows: [], tables: [] };
    for (const name of names) {
      const run = cases[name];
      if (run === undefined) throw new Error(`there is no part ${name}\n${usage}`);
      console.error(`measuring ${name} …`);
      const folder = resolve(dataDir.path, name);
      mkdirSync(folder);
      const { series, rows, tables = [] } = await run(folder, pace, wishes);
      Object.assign(found.series, series);
      found.rows.push(...rows);
      found.tables.push(...tables);
    }
    const { against } = wishes;
    return { setting, pace, ...found, ...(against !== undefined && { against: revisionOf(against) }) };
  } finally {
    dataDir.remove();
  }
}

function describe({ setting, pace, against }: Measured): string {
  return (
    `${renderSetting(setting)}; medians of ${pace.rounds} rounds with runs of ${pace.runMs / 1000} s.` +
    (against === undefined ? "" : ` \`before\` is revision ${against}.`)
  );
}

async function main(): Promise<void> {
  if (options.help) return console.log(usage);
  const pace = options.quick ? quickPace : fullPace;
  const rounds = options.rounds === undefined ? pace.rounds : Number(options.rounds);
  const all = Object.keys(cases).filter((name) => !onRequest.has(name) && (!options.quick || name !== "costs"));
  const names = options.only?.split(",") ?? all;
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const wishes = {
    against: options.against,
    size: number(options.size),
    isEmbedded: options.sqlite,
    databaseShare: number(options["database-share"]),
  };
  const findings = await measure(names, { ...pace, rounds, patience: { ms: Number(options.patience) * 1000 } }, wishes);
  const tables = [describe(findings)];
  if (findings.rows.length > 0) tables.push(renderTable(findings.rows));
  const costs = findings.series[costSeries.title];
  if (costs !== undefined) tables.push(renderCosts(costs));
  tables.push(...findings.tables);
  const section = tables.join("\n\n");
  console.log(section);
  if (options.json) console.log(JSON.stringify(findings.series, undefined, 1));
  const isWhole = !options.quick && options.only === undefined;
  if (!isWhole && !options.save) return;

  console.error(`written: ${saveRuns(findings.setting, isWhole ? undefined : names.join("-"), findings)}`);
  if (!isWhole) return;
  const readme = resolve(import.meta.dir, "README.md");
  writeFileSync(readme, withSection(readFileSync(readme, "utf8"), `\n${section}\n`));
  console.error(`written: ${readme}`);
}

await main();
process.exit(0); // the peers' pipes would keep the process alive
