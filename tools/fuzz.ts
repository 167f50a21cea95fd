// Sends hostile input over HTTP and WebSocket for a while: `npm run fuzz -- --minutes 10 --seed 1`. Prints how many
// cases got which response, which of them were not as documented, and the server's memory before and after. `npm run
// fuzz -- --seed 1 --case 4711` repeats a single case. Exits with 1 if a response was unexpected or memory stayed. A
// warm-up of some minutes comes first, and its responses count as well.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fuzz, fuzzSettings } from "../test/fuzz/run.ts";
import { startHerald } from "../test/harness/servers/herald.ts";

const warmUpCases = 100_000; // by then the runtime has compiled most code, which takes memory; see decision 0023
const sampleEveryMs = 60_000;
const mayStay = 1.1;
const memoryMayTakeMs = 120_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    case: { type: "string" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0 && minutes <= 600) || !Number.isSafeInteger(seed)) {
  console.error("usage: npm run fuzz -- [--minutes 1] [--seed <number>] [--case <number>]");
  process.exit(2);
}

const herald = await startHerald({ env: { ...fuzzSettings, HERALD_LOG_LEVEL: "info" } });
const mebibytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${herald.pid}/status`, "utf8"))?.[1]) / 1024;

if (values.case !== undefined) {
  const report = await fuzz({ herald, seed, isOver: () => true, only: Number(values.case) });
  console.log(JSON.stringify({ answers: Object.fromEntries(report.answers), unexpected: report.unexpected }, null, 2));
  await herald.stop();
  process.exit(report.unexpected.length === 0 ? 0 : 1);
}

console.log(`seed ${seed}, ${minutes} min, after a warm-up of ${warmUpCases} cases of another seed`);
const warmUp = await fuzz({ herald, seed: seed + 1, isOver: (number) => number >= warmUpCases });
await Bun.sleep(5_000); // memory from the warm-up is released in the background
const before = mebibytes();
const samples: number[] = [];
const sampling = setInterval(() => samples.push(mebibytes()), sampleEveryMs);
const end = performance.now() + minutes * 60_000;
const report = await fuzz({ herald, seed, isOver: () => performance.now() >= end });
clearInterval(sampling);
const atEnd = mebibytes();
const settled = performance.now() + memoryMayTakeMs;
while (mebibytes() > before * mayStay && performance.now() < settled) await Bun.sleep(1_000);
const after = mebibytes();
await herald.stop();

for (const [answer, count] of [...report.answers].sort(([, left], [, right]) => right - left))
  console.log(`${String(count).padStart(8)}  ${answer}`);
const unexpected = [...warmUp.unexpected, ...report.unexpected];
for (const one of unexpected) {
  console.log(`\nUNEXPECTED case ${one.number}, ${one.kind}: ${one.answer}: ${one.fault}`);
  console.log(`  again: npm run fuzz -- --seed ${one.seed} --case ${one.number}\n  bytes: ${one.bytes}`);
}
for (const error of report.errorsLogged) console.log(`the server logged: ${error}`);
if (samples.length > 0) console.log(`\nmemory each minute: ${samples.map((one) => one.toFixed(0)).join(", ")} MiB`);
const percent = (after / before - 1) * 100;
console.log(
  `\n${report.cases} cases after ${warmUp.cases} of the warm-up, ${unexpected.length} unexpected; memory ${before.toFixed(0)} MiB before, ${atEnd.toFixed(0)} at the end, ${after.toFixed(0)} after (${percent.toFixed(1)} %)`,
);
const isFine = unexpected.length + report.errorsLogged.length === 0 && after <= before * mayStay;
process.exit(isFine ? 0 : 1);
