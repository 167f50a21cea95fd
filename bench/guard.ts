// Fails if a send or a delivery takes more CPU than it may, beside a fixed revision: `npm run guard`, which CI runs. See
// bench/README.md.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { installRevision } from "../test/harness/engines/revision.ts";
import { loads, measurePair } from "./cases/regression.ts";
import { checkoutsOf } from "./harness/checkouts.ts";
import { type Pace, ratiosOf } from "./harness/report/rounds.ts";
import { meanRatio } from "./harness/report/statistics.ts";
import { createDataDir } from "./harness/servers.ts";

/** Moves only to a released revision that costs less: a bound that follows yesterday's figure lets a loss of 3 % pass each day. */
const fixedRevision = "3dbdad5f0de41dea47a0fb4250a03654532baa37";

/** What is measured under which load, and how many times as much it may be: a tenth more than at revision 2591c1f8. */
const guarded: Readonly<Record<string, { figure: string; measure: string; most: number }>> = {
  "64 callers, random ids": { figure: "CPU of a send", measure: "serverCpuMicros", most: 1.25 },
  "1000 listeners, 1 in flight": { figure: "CPU of a delivery", measure: "cpuMicrosPerDelivery", most: 1.14 },
};

const pace: Pace = { rounds: 5, runMs: 600, warmUpMs: 400, patience: { ms: 0 } };
const mostPairs = 4; // two nodes of one revision differ by up to 8 %

/** The ratio of each guarded figure to the fixed revision's, in one more pair of nodes. */
async function measure(folder: string, against: string): Promise<Map<string, number>> {
  mkdirSync(folder);
  const chosen = Object.fromEntries(Object.entries(loads).filter(([title]) => title in guarded));
  const found = await measurePair(folder, checkoutsOf(against), pace, chosen);
  const ratios = Object.entries(guarded).map(([title, { measure }]) => {
    const runs = ratiosOf(found[title]?.series ?? {}, "herald", "before", measure);
    return [title, meanRatio(runs).mean] as const;
  });
  return new Map(ratios);
}

async function main(): Promise<boolean> {
  const against = await installRevision(fixedRevision);
  const dataDir = createDataDir();
  const pairs: Map<string, number>[] = [];
  try {
    for (let pair = 1; pair <= mostPairs; pair++) {
      pairs.push(await measure(join(dataDir.path, String(pair)), against));
      const verdicts = Object.entries(guarded).map(([title, { figure, most }]) => {
        const ratio = meanRatio(pairs.map((found) => found.get(title) ?? Number.NaN)).mean;
        console.log(
          `${figure} (${title}): ${ratio.toFixed(2)} × that of ${fixedRevision.slice(0, 8)}, at most ${most}`,
        );
        return ratio <= most;
      });
      if (verdicts.every(Boolean)) return true;
      console.log(pair < mostPairs ? "more than that: measuring another pair of nodes" : "more than that in the mean");
    }
  } finally {
    dataDir.remove();
  }
  console.error(
    "Find what became slower with `npm run bench -- --only regression --against <a checkout of the fixed revision>`.",
  );
  return false;
}

process.exit((await main()) ? 0 : 1); // the peers' pipes would keep the process alive
