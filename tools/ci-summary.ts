// Reads the output of each run of `bun test` and prints the one line that the CI's reader knows: `N passed, N failed`. The JUnit
// report would not do: it leaves out a test file that fails to load. Exits with 1 if anything failed, or if a run has no summary.
import { readFileSync } from "node:fs";

/** How many tests ran, as bun counts them: a file that fails to load is one failure, a skipped test is neither. */
export type Summary = { readonly passed: number; readonly failed: number };

/** The numbers of the last summary in the output of `bun test`; without one nothing ran. */
export const summarize = (output: string): Summary => {
  const lines = output.split("\n").map((line) => line.trim());
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?\./.test(line));
  const start = lines.lastIndexOf("", end);
  const block = end < 0 ? [] : lines.slice(start + 1, end);
  const count = (word: string): number => Number(block.find((line) => line.endsWith(` ${word}`))?.split(" ")[0] ?? 0);
  return { passed: count("pass"), failed: count("fail") };
};

if (import.meta.main) {
  const runs = process.argv.slice(2).map((path) => ({ path, ...summarize(readFileSync(path, "utf8")) }));
  const empty = runs.filter(({ passed, failed }) => passed + failed === 0);
  for (const { path } of empty) console.error(`no test ran: ${path}`);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && runs.length > 0 && empty.length === 0 ? 0 : 1);
}
