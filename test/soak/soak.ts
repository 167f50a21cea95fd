// Lets clients of the SDK listen for minutes while lines, nodes and devices are disturbed: `npm run soak`.
import { parseArgs } from "node:util";
import { createRandom } from "../harness/random.ts";
import { runSoak } from "./run-soak.ts";

const usage = `npm run soak -- [--minutes 10] [--clients 200] [--pages 5] [--seed 7] [--deliveries 500]
  --minutes     how long messages are written and everything is disturbed
  --clients     how many clients listen
  --pages       how many more listen in pages in Chromium
  --seed        decides what is disturbed, when and for how long; without it, another one each time
  --deliveries  about how many events the clients hear in a second, all together
It exits with 1 if a client missed anything, heard anything twice, or shows anything else than the database has.`;

const { values: given } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    clients: { type: "string", default: "200" },
    pages: { type: "string", default: "5" },
    seed: { type: "string" },
    deliveries: { type: "string", default: "500" },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<boolean> {
  const { seed } = createRandom(given.seed === undefined ? undefined : Number(given.seed));
  const options = {
    seconds: Number(given.minutes) * 60,
    clients: Number(given.clients),
    nodes: 3,
    processes: 4,
    pages: Number(given.pages),
    deliveriesPerSecond: Number(given.deliveries),
    everyMs: 4_000,
    longestMs: 20_000,
    seed,
  };
  console.error(`seed ${seed}`);
  const result = await runSoak(options, (text) => console.error(text));
  console.log(JSON.stringify(result, undefined, 2));
  return result?.faults.length === 0;
}

if (given.help) console.log(usage);
else process.exit((await main()) ? 0 : 1);
