import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../../test/harness/engines/postgres.ts";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import { createThrottle, parentOf, type Throttle } from "../harness/cores.ts";
import type { Measures, Series } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import type { Case, Findings } from "./case.ts";
import { openFixture, type StormFixture } from "./storm/fixture.ts";
import { runStorm, type Variant } from "./storm/run.ts";

const defaultSize = 15_000;
const roundsAtMost = 3; // a storm takes up to a minute

const variants: readonly Variant[] = [
  { what: "open sockets send `connect`", isOpenBefore: true, areKnown: true },
  { what: "sockets open and send `connect`", isOpenBefore: false, areKnown: true },
  { what: "sockets open and send `connect`, of users not yet known", isOpenBefore: false, areKnown: false },
];

const measured = {
  in: ["in", ""],
  allInSeconds: ["the last one was in after", "s"],
  halfInSeconds: ["half of them after", "s"],
  attempts: ["attempts", ""],
  lost: ["refused for good", ""],
  errorLines: ["errors and answers 5xx in the node's log", ""],
  victimCalmP50Ms: ["victim, undisturbed: p50", "ms"],
  victimCalmP99Ms: ["victim, undisturbed: p99", "ms"],
  victimP50Ms: ["victim, in the storm: p50", "ms"],
  victimP99Ms: ["victim, in the storm: p99", "ms"],
  victimMaxMs: ["victim, in the storm: worst", "ms"],
  victimP99Ratio: ["… its p99 by the undisturbed one", ""],
  besideCalmP99Ms: ["a bare route in a process beside it, undisturbed: p99", "ms"],
  besideP50Ms: ["… in the storm: p50", "ms"],
  besideP99Ms: ["… in the storm: p99", "ms"],
  victimSends: ["the victim's sends", ""],
  victimFailed: ["… that failed", ""],
  peakMebibytes: ["the node's memory at most", "MiB"],
  nodeCpuSeconds: ["the node's CPU in the storm", "s"],
  loadBefore: ["load of the machine before (1 min)", ""],
} as const;

/**
 * Measures a storm: everyone connects at once and retries like the SDK, while a caller of another organization keeps
 * sending. Each storm hits a node that has just started.
 */
export const storm: Case = async (dataDir, { rounds }, wishes) => {
  const { against, size = defaultSize, isEmbedded, databaseShare } = wishes;
  const postgres = isEmbedded ? undefined : await startPostgres();
  if (!isEmbedded && postgres === undefined) throw new Error("this part needs PostgreSQL, or --sqlite");
  const fixtures: [Checkout, StormFixture][] = [];
  for (const checkout of checkoutsOf(against)) {
    const databaseUrl = await postgres?.createDatabase();
    fixtures.push([checkout, await openFixture(join(dataDir, checkout.name), checkout, databaseUrl, size)]);
  }
  const throttle = databaseShare === undefined ? undefined : await throttlePostgres(postgres?.url, databaseShare);
  const store = isEmbedded ? "SQLite" : `PostgreSQL${throttle ? ` with ${databaseShare} of a core` : ""}`;
  const found: Findings & { tables: string[] } = { series: {}, rows: [], tables: [] };
  for (const variant of variants) {
    const title = `${size.toLocaleString("en-US")} ${variant.what}, ${store}`;
    const series: Series = {};
    for (let round = 0; round < Math.min(rounds, roundsAtMost); round++) {
      for (const [{ name }, fixture] of fixtures) {
        console.error(`  ${title}: ${name}, round ${round + 1}`);
        const measures = await runStorm(fixture, variant, size, round);
        series[name] = [...(series[name] ?? []), measures];
      }
    }
    const endings = evenOut(Object.values(series).flat());
    found.series[title] = series;
    found.tables.push(renderSideBySide(title, series, { ...measured, ...endings }));
  }
  throttle?.lift();
  postgres?.stop();
  return found;
};

/** Limits the server at this address to a share of a core, including all connections that it accepts from now on. */
async function throttlePostgres(url: string | undefined, share: number): Promise<Throttle | undefined> {
  const throttle = createThrottle();
  if (url === undefined || throttle === undefined) throw new Error("there is no PostgreSQL, or no way to hold it back");
  await using database = new SQL(`${url}/postgres`, { max: 1 });
  const [row]: { pid: number }[] = await database`SELECT pg_backend_pid() AS pid`;
  throttle.limit(parentOf(row?.pid ?? Number.NaN), share);
  return throttle;
}

/** Gives every run a count for each kind of ending seen in any run, and the table a row for it. */
function evenOut(runs: readonly Measures[]): Record<string, readonly [string, string]> {
  const names = new Set(runs.flatMap((run) => Object.keys(run)).filter((name) => name.includes(": ")));
  for (const run of runs) for (const name of names) run[name] ??= 0;
  return Object.fromEntries([...names].sort().map((name) => [name, [name, ""]]));
}
