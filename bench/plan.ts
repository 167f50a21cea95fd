// Plans servers for many connections from the costs measured here: `npm run plan`. See docs/explanation/scaling.md.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { withSection } from "./harness/report/report.ts";
import { readKnownCosts } from "./plan/known-costs.ts";
import { renderPlans } from "./plan/render.ts";

const usage = `npm run plan -- [--target 0.55] [--seed 1] [--write]
  --target  the most that any part may be busy, 0 to 1
  --seed    of the sizes of organizations and of the simulation of queues
  --write   writes the tables to docs/explanation/scaling.md, too`;

const { values: options } = parseArgs({
  options: {
    target: { type: "string", default: "0.55" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function main(): void {
  if (options.help) {
    console.log(usage);
    return;
  }
  const [target, seed] = [Number(options.target), Number(options.seed)];
  if (!(target > 0 && target < 1) || !Number.isInteger(seed)) throw new Error(usage);
  const section = renderPlans(readKnownCosts(), target, seed);
  console.log(section);
  if (!options.write) return;
  const page = resolve(import.meta.dir, "../docs/explanation/scaling.md");
  writeFileSync(page, withSection(readFileSync(page, "utf8"), `\n${section}\n`));
  console.error(`written: ${page}`);
}

main();
