// Besieges one node, raid by raid, while somebody else sends: `npm run siege`. See "Under siege" in
// docs/explanation/security.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { type Checkout, checkoutsOf, revisionOf } from "./harness/checkouts.ts";
import type { Measures } from "./harness/report/rounds.ts";
import { describeSetting, type Setting } from "./harness/report/setting.ts";
import { createDataDir } from "./harness/servers.ts";
import { playBus } from "./siege/bus.ts";
import type { Raid } from "./siege/camp.ts";
import { openGround, type SiegeGround } from "./siege/ground.ts";
import { type Length, playRaid } from "./siege/play.ts";
import { raidOf, raids } from "./siege/raids/all.ts";
import { writePage } from "./siege/report/page.ts";
import { renderRuns, type SiegeSeries, titleOf } from "./siege/report/report.ts";
import { judge } from "./siege/report/verdict.ts";

const usage = `npm run siege -- [--only metrics,lists] [--store sqlite|postgres] [--rounds 3] [--seconds 8] [--against ../before] [--save] [--write]
  --only     these raids; of ${[...raids.map(({ name }) => name), "bus"].join(", ")}
  --row      the raids of these rows of the table, as 2,3
  --store    on this store only; both by default, PostgreSQL where it is installed
  --rounds   how often; what counts is the median of the victim's ratio, and the worst of all else
  --seconds  how long a raid is; the calm before it is as long
  --against  the folder of another checkout, installed, that is besieged in turns with this one, as \`before\`
  --alone    with --against: only that one
  --save     writes the runs to bench/results/<date>-<revision>-siege.json; a run of everything does so anyway
  --write    writes the table of the newest results to docs/explanation/security.md; alone, it plays nothing`;

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
type Plan = { chosen: readonly Raid[]; checkouts: readonly Checkout[]; rounds: number; length: Length };

function choose(): readonly Raid[] {
  const rows = options.row?.split(",").map(Number);
  const named = options.only?.split(",").filter((name) => name !== "bus");
  const chosen = named === undefined ? raids : named.map(raidOf);
  return rows === undefined ? chosen : chosen.filter(({ row }) => row !== undefined && rows.includes(row));
}

function storesOf(wanted: string | undefined): Store[] {
  if (wanted === undefined) return ["SQLite", "PostgreSQL"];
  const store = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
  if (wanted !== "sqlite" && wanted !== "postgres") throw new Error(usage);
  return [store[wanted]];
}

/** Plays every raid of the plan on one store, round after round; checkouts take turns. */
async function besiege(
  store: Store,
  folder: string,
  { chosen, checkouts, rounds, length }: Plan,
  onFound: (found: SiegeSeries) => void,
): Promise<SiegeSeries> {
  const found: SiegeSeries = {};
  if (chosen.length === 0) return found;
  const postgres = store === "PostgreSQL" ? await startPostgres() : undefined;
  if (store === "PostgreSQL" && postgres === undefined) return found; // it has said that it is not installed
  const grounds: [Checkout, SiegeGround][] = [];
  for (const checkout of checkouts)
    grounds.push([checkout, await openGround(join(folder, store, checkout.name), checkout, postgres)]);
  for (const raid of chosen) {
    const title = titleOf(raid.name, store);
    const series: Record<string, Measures[]> = {};
    for (let round = 0; round < rounds; round++) {
      for (const [{ name }, ground] of grounds)
        series[name] = [...(series[name] ?? []), await playRaid(ground, raid, length, round)];
    }
    found[title] = series;
    console.log(renderRuns(title, series));
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
  const plan: Plan = { chosen: choose(), checkouts, rounds, length: { calmMs: ms, attackMs: ms } };
  const stores = storesOf(options.store);
  const dataDir = createDataDir();
  const isWhole = options.only === undefined && options.row === undefined && options.store === undefined;
  const isBusWanted = isWhole || options.only?.split(",").includes("bus") || options.row?.split(",").includes("10");
  let series: SiegeSeries = {};
  const setting = describeSetting(dataDir.path);
  const keep = (more: SiegeSeries) => {
    series = { ...series, ...more };
    const results = { setting, pace: { rounds, runMs: ms }, series, ...(against && { against: revisionOf(against) }) };
    if (isWhole || options.save) save(results); // after each raid, so that an aborted run leaves its results
  };
  try {
    for (const store of stores) await besiege(store, dataDir.path, plan, keep);
    if (isBusWanted) keep(await playBus(checkouts));
  } finally {
    dataDir.remove();
  }
  if (options.write) console.error(`written: ${writePage()}`);
  const ours = Object.values(series).flatMap(({ herald }) => (herald === undefined ? [] : [judge(herald)]));
  return ours.every(({ wrongs }) => wrongs.length === 0);
}

type Results = { setting: Setting; pace: { rounds: number; runMs: number }; series: SiegeSeries; against?: string };

function save(results: Results): void {
  const { date, revision } = results.setting;
  const folder = resolve(import.meta.dir, "results");
  mkdirSync(folder, { recursive: true });
  const time = date.slice(11, 16).replace(":", "");
  const file = join(folder, `${date.slice(0, 10)}-${revision}-siege-${time}.json`);
  writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`);
}

const holds = await main();
process.exit(holds ? 0 : 1); // the peers' pipes would keep the process alive
