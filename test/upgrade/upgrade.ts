// Replaces nodes of the previous revision one by one with those of this one, back, and again, under load: `npm run
// upgrade`.
import { parseArgs } from "node:util";
import { renderReport } from "../faults/judging/report.ts";
import { runScenario } from "../faults/run-scenario.ts";
import { installRevision } from "../harness/engines/revision.ts";
import { createRandom } from "../harness/random.ts";
import { previousRevision } from "./previous.ts";
import { createUpgrade } from "./scenario.ts";

const usage = `npm run upgrade -- [--from <commit>] [--to <commit>] [--seed 7] [--short] [--install]
  --from     the revision to begin with; ${previousRevision} without it
  --to       the revision to go to; what is in this folder without it
  --seed     decides moments, durations and sizes; without it, another one each time
  --short    the load and durations of npm run test:all
  --install  only installs the revision to begin with`;

const { values: given } = parseArgs({
  options: {
    from: { type: "string", default: previousRevision },
    to: { type: "string" },
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    install: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<boolean> {
  const previous = await installRevision(given.from);
  if (given.install) return true;
  const next = given.to === undefined ? null : await installRevision(given.to);
  const options = {
    seed: createRandom(given.seed === undefined ? undefined : Number(given.seed)).seed,
    size: given.short ? ("short" as const) : ("long" as const),
    onRound: (text: string) => console.error(`  ${text}`),
  };
  const seen = await runScenario(createUpgrade({ previous, next }), options).catch((error: unknown) => {
    console.error(`FAIL ${error instanceof Error ? error.message : error}`);
  });
  if (seen === undefined) return false;
  console.log(renderReport([{ ...seen.result, faults: seen.faults }]));
  return seen.faults.length === 0;
}

// An interrupt leaves no servers behind, as they stop if the process ends in order.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
if (given.help) console.log(usage);
else process.exit((await main()) ? 0 : 1);
