// Attacks one node in each of the known ways, while another organization sends: `npm run attacks`. See "Under attack" in
// docs/explanation/security.md.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import type { Attack } from "./attacks/attack.ts";
import { runBusAttacks } from "./attacks/bus.ts";
import { type Fixture, openFixture } from "./attacks/fixture.ts";
import { attackOf, attacks } from "./attacks/kinds/all.ts";
import { writePage } from "./attacks/report/page.ts";
import { type AttackSeries, renderRuns, titleOf } from "./attacks/report/report.ts";
import { holds, judge, type Verdict } from "./attacks/report/verdict.ts";
import { type Length, runAttack } from "./attacks/run.ts";
import { type Checkout, checkoutsOf, revisionOf } from "./harness/checkouts.ts";
import { saveRuns } from "./harness/report/results.ts";
import type { Measures } from "./harness/report/rounds.ts";
import { describeSetting, type Setting } from "./harness/report/setting.ts";
import { createDataDir } from "./harness/servers.ts";

const usage = `npm run attacks -- [--only metrics,lists] [--store sqlite|postgres] [--rounds 3] [--seconds 8] [--against ../before] [--save] [--write]
  --only     these attacks; of ${[...attacks.map(({ name }) => name), "bus"].join(", ")}
  --row      the attacks of these rows of the table, as 2,3
  --store    on this store only; both by default, PostgreSQL where it is installed
  --rounds   how often; what counts is the median of the victim's times, and the worst of all else
  --seconds  how long an attack is; the undisturbed time before it is a quarter of that
  --against  the folder of another checkout, installed, that is attacked in turns with this one, as \`before\`
  --alone    with --against: only that one
  --save     writes the runs to bench/results/<date>-<revision>-attacks.json; a run of everything does so anyway
  --write    writes the table of the newest results to docs/explanation/security.md; alone, it runs nothing`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    row: { type: "string" },
    store: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    against: { type: "string" },
    alone: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

type Store = "SQLite" | "PostgreSQL";
type Plan = { chosen: readonly Attack[]; checkouts: readonly Checkout[]; rounds: number; length: Length };

function choose(): readonly Attack[] {
  const rows = options.row?.split(",").map(Number);
  const named = options.only?.split(",").filter((name) => name !== "bus");
  const chosen = named === undefined ? attacks : named.map(attackOf);
  return rows === undefined ? chosen : chosen.filter(({ row }) => row !== undefined && rows.includes(row));
}

function storesOf(wanted: string | undefined): Store[] {
  if (wanted === undefined) return ["SQLite", "PostgreSQL"];
  const store = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
  if (wanted !== "sqlite" && wanted !== "postgres") throw new Error(usage);
  return [store[wanted]];
}

/** Runs every attack of the plan on one store, round after round; checkouts take turns. */
async function runAttacks(
  store: Store,
  folder: string,
  { chosen, checkouts, rounds, length }: Plan,
  onFound: (found: AttackSeries) => void,
): Promise<AttackSeries> {
  const found: AttackSeries = {};
  if (chosen.length === 0) return found;
  const postgres = store === "PostgreSQL" ? await startPostgres() : undefined;
  if (store === "PostgreSQL" && postgres === undefined) return found; // it has said that it is not installed
  const fixtures: [Checkout, Fixture][] = [];
  for (const checkout of checkouts)
    fixtures.push([checkout, await openFixture(join(folder, store, checkout.name), checkout, postgres)]);
  for (const attack of chosen) {
    const title = titleOf(attack.name, store);
    const series: Record<string, Measures[]> = {};
    for (let round = 0; round < rounds; round++) {
      for (const [{ name }, fixture] of fixtures)
        series[name] = [...(series[name] ?? []), await runAttack(fixture, attack, length, round)];
    }
    found[title] = series;
    console.log(renderRuns(title, series, Math.max(length.attackMs, attack.leastMs ?? 0) / 1_000));
    onFound(found);
  }
  postgres?.stop();
  return found;
}

async function main(): Promise<boolean> {
  if (options.help) {
    console.log(usage);
    return true;
  }
  if (process.argv.slice(2).join() === "--write") {
    console.error(`written: ${writePage()}`);
    return true;
  }
  const { against, alone } = options;
  const [rounds, ms] = [Number(options.rounds), Number(options.seconds) * 1_000];
  if (!(rounds >= 1 && ms > 0)) throw new Error(usage);
  const checkouts = checkoutsOf(against).filter(({ name }) => !alone || name === "before");
  const plan: Plan = { chosen: choose(), checkouts, rounds, length: { calmMs: ms / 4, attackMs: ms } };
  const stores = storesOf(options.store);
  const dataDir = createDataDir();
  const isWhole = options.only === undefined && options.row === undefined && options.store === undefined;
  const isBusWanted = isWhole || options.only?.split(",").includes("bus") || options.row?.split(",").includes("10");
  let series: AttackSeries = {};
  const setting = describeSetting(dataDir.path);
  const keep = (more: AttackSeries) => {
    series = { ...series, ...more };
    const results = { setting, pace: { rounds, runMs: ms }, series, ...(against && { against: revisionOf(against) }) };
    if (isWhole || options.save) save(results); // after each attack, so that an aborted run leaves its results
  };
  try {
    for (const store of stores) await runAttacks(store, dataDir.path, plan, keep);
    if (isBusWanted) keep(await runBusAttacks(checkouts));
  } finally {
    dataDir.remove();
  }
  if (options.write) console.error(`written: ${writePage()}`);
  return storesOf(undefined).every((store) => holds(verdictsOn(store, series)));
}

/** The verdicts on this checkout, of the attacks on one store. */
function verdictsOn(store: Store, series: AttackSeries): Verdict[] {
  return Object.entries(series).flatMap(([title, { herald }]) =>
    herald === undefined || !title.endsWith(store) ? [] : [judge(herald)],
  );
}

type Results = { setting: Setting; pace: { rounds: number; runMs: number }; series: AttackSeries; against?: string };

function save(results: Results): void {
  const time = results.setting.date.slice(11, 16).replace(":", "");
  saveRuns(results.setting, `attacks-${time}`, results);
}

const isHeld = await main();
process.exit(isHeld ? 0 : 1); // the peers' pipes would keep the process alive
