// Parses the output of `bun test`. Its JUnit report would not do: it omits a test file that fails to load.

/** How many tests ran, as bun counts them: a file that fails to load is one failure, a skipped test is neither. */
export type Summary = { readonly passed: number; readonly failed: number };

/** The numbers of the last summary in the output of `bun test`; zero without one. */
export const summarize = (output: string): Summary => {
  const lines = output.split("\n").map((line) => line.trim());
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?\./.test(line));
  const start = lines.lastIndexOf("", end);
  const block = end < 0 ? [] : lines.slice(start + 1, end);
  const count = (word: string): number => Number(block.find((line) => line.endsWith(` ${word}`))?.split(" ")[0] ?? 0);
  return { passed: count("pass"), failed: count("fail") };
};

const linesOfFailure = 30;
const outcome = /^\((pass|fail|skip|todo)\) /;

/**
 * The output for each failed test: its line, and up to 30 before it that follow another test's. Bun repeats failures at
 * its end.
 */
export const failuresIn = (output: string): string[] => {
  const lines = output.split("\n");
  return lines.flatMap((line, index) => {
    if (!line.startsWith("(fail) ") || lines.indexOf(line) < index) return [];
    const before = lines.slice(Math.max(0, index - linesOfFailure), index);
    return [[...before.slice(before.findLastIndex((one) => outcome.test(one)) + 1), line].join("\n").trim()];
  });
};
