// `npm run test:all`, which CI runs: the tests of `npm test`, the long ones, the single-node ones again on three nodes,
// and Schemathesis. All run in any case, so that one run shows all failures; a suite that hangs is ended. The first runs
// Herald from its sources, the others run the binary, which starts in half the time. The last line is `N passed, N failed`.
import { resolve } from "node:path";
import { spawn } from "bun";
import { compileHerald } from "./build/compile.ts";
import { failuresIn, summarize } from "./test-summary.ts";

type Suite = {
  command: readonly string[];
  /** After so many minutes it hangs: much more than it takes, also on a machine at half its speed. */
  minutes: number;
  /** Whether its output ends like that of `bun test`. */
  isCounted: boolean;
  /** Whether it tests the binary instead of the sources. */
  isOfBinary: boolean;
};

const binary = resolve(import.meta.dir, "../dist/test/herald");

const suites: readonly Suite[] = [
  { command: ["test"], minutes: 10, isCounted: true, isOfBinary: false },
  { command: ["run", "test:long"], minutes: 60, isCounted: true, isOfBinary: true },
  { command: ["run", "test:cluster"], minutes: 15, isCounted: true, isOfBinary: true },
  { command: ["run", "schemathesis", "--", "--cases", "1500"], minutes: 5, isCounted: false, isOfBinary: true },
];

type Outcome = { suite: Suite; output: string; seconds: number; end: number | string };

/** Runs a suite and shows its output meanwhile. */
async function run(suite: Suite): Promise<Outcome> {
  const startedAt = performance.now();
  const child = spawn(["sh", "-c", 'exec npm "$@" 2>&1', "sh", ...suite.command], {
    stdin: "ignore",
    timeout: suite.minutes * 60_000,
    env: { ...process.env, ...(suite.isOfBinary && { TEST_HERALD_BINARY: binary }) },
  });
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  await child.exited;
  return {
    suite,
    output,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    end: child.signalCode ?? child.exitCode ?? "unknown",
  };
}

await compileHerald(binary);
const outcomes: Outcome[] = [];
for (const suite of suites) outcomes.push(await run(suite));

const counted = outcomes.filter(({ suite }) => suite.isCounted);
for (const failure of counted.flatMap(({ output }) => failuresIn(output))) console.log(`\n${failure}`);
console.log("");
for (const { suite, output, seconds, end } of outcomes) {
  const { passed, failed } = summarize(output);
  const count = suite.isCounted ? `, ${passed} passed, ${failed} failed` : "";
  console.log(`npm ${suite.command.join(" ")}: ${seconds} s${count}${end === 0 ? "" : `, ended with ${end}`}`);
}
const totals = counted.map(({ output }) => summarize(output));
const sum = (count: (total: (typeof totals)[number]) => number) => totals.reduce((all, total) => all + count(total), 0);
console.log(`${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
const hasRun = totals.every(({ passed, failed }) => passed + failed > 0);
process.exit(hasRun && outcomes.every(({ end }) => end === 0) ? 0 : 1);
