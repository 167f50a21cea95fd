// Breaks what Herald depends on while it is in use, and counts what was lost, duplicated and misordered: `npm run
// faults`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeSetting } from "../../bench/harness/report/setting.ts";
import { createRandom } from "../harness/random.ts";
import { withAll, withSome } from "./judging/page.ts";
import { type Judged, renderReport } from "./judging/report.ts";
import { repeatCommand, runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios/all.ts";

const usage = `npm run faults -- [--only kill-node,nats-killed] [--seed 7] [--rounds 30] [--short]
  --only    these scenarios; of ${scenarios.map(({ name }) => name).join(", ")}
  --seed    decides moments, durations, victims and sizes; without it, another one each time
  --rounds  how often each scenario breaks something
  --short   the rounds and durations of npm run test:all
A run of all of them, as long as they are, writes test/faults/results and the table in docs/explanation/promises.md. A run of some
writes the rows of those that went as expected, unless --seed, --rounds or --short is given, which repeat a run.`;

const { values: given } = parseArgs({
  options: {
    only: { type: "string" },
    seed: { type: "string" },
    rounds: { type: "string" },
    short: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function choose(names: string[] | undefined) {
  const unknown = names?.filter((name) => !scenarios.some((scenario) => scenario.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(", ")}\n${usage}`);
  return names === undefined ? scenarios : scenarios.filter(({ name }) => names.includes(name));
}

async function main(): Promise<boolean> {
  const chosen = choose(given.only?.split(","));
  const options = {
    seed: createRandom(given.seed === undefined ? undefined : Number(given.seed)).seed,
    size: given.short ? ("short" as const) : ("long" as const),
    rounds: given.rounds === undefined ? undefined : Number(given.rounds),
    onRound: (text: string) => console.error(`  ${text}`),
  };
  const results: Judged[] = [];
  let failed = 0;
  for (const scenario of chosen) {
    console.error(`${scenario.name}, seed ${options.seed}`);
    try {
      const seen = await runScenario(scenario, options);
      if (seen === undefined) continue;
      const { result, faults } = seen;
      results.push({ ...result, faults });
      if (faults.length === 0) continue;
      console.error(`FAIL ${faults.join("; ")}`);
    } catch (error) {
      console.error(`FAIL ${error instanceof Error ? error.message : error}`);
    }
    failed += 1;
    console.error(`again: ${repeatCommand(scenario, options)}`);
  }
  console.log(renderReport(results));
  const isLong = !given.short && given.rounds === undefined;
  if (isLong && results.length === scenarios.length) write(results);
  else if (isLong && given.seed === undefined) writeRows(results.filter(({ faults }) => faults.length === 0));
  return failed === 0;
}

const page = resolve(import.meta.dir, "../../docs/explanation/promises.md");

function describeWhere({ date, revision, versions, machine }: ReturnType<typeof describeSetting>): string {
  return `${date.slice(0, 10)}, revision ${revision}, Bun ${versions.bun}, ${machine.cores} cores (${machine.cpu}).`;
}

function write(results: Judged[]): void {
  const setting = describeSetting(tmpdir());
  const folder = resolve(import.meta.dir, "results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${setting.date.slice(0, 10)}-${setting.revision}.json`);
  writeFileSync(file, `${JSON.stringify({ setting, results }, undefined, 2)}\n`);
  writeFileSync(page, withAll(readFileSync(page, "utf8"), results, describeWhere(setting)));
  console.error(`written: ${file} and ${page}`);
}

function writeRows(results: Judged[]): void {
  if (results.length === 0) return;
  const where = describeWhere(describeSetting(tmpdir()));
  const rows = scenarios.map(({ row }) => row);
  writeFileSync(page, withSome(readFileSync(page, "utf8"), results, where, rows));
  console.error(`written: ${results.length} rows of ${page}`);
}

// An interrupt leaves no servers behind, as they stop if the process ends in order.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
if (given.help) console.log(usage);
else process.exit((await main()) ? 0 : 1);
