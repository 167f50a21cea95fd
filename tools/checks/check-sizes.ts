// Checks that a file does one thing: more than 400 lines fail, unless the table lists the file with its reason.
import { readFileSync } from "node:fs";
import { sourceFiles } from "./source-files.ts";

const maxLines = 400;

/** Files that may be longer, each with the reason why splitting it would make it harder to read. */
const longFiles: Readonly<Record<string, string>> = {};

const lineCount = (path: string): number => readFileSync(path, "utf8").trimEnd().split("\n").length;

const files = sourceFiles(["src", "sdk", "console", "test", "bench", "tools"]);
const problems = [
  ...files
    .filter((path) => lineCount(path) > maxLines && !Object.hasOwn(longFiles, path))
    .map(
      (path) =>
        `${path}: ${lineCount(path)} lines, at most ${maxLines}; split it, or list it in tools/checks/check-sizes.ts`,
    ),
  ...Object.keys(longFiles)
    .filter((path) => !files.includes(path) || lineCount(path) <= maxLines)
    .map((path) => `${path}: listed in tools/checks/check-sizes.ts without need`),
];

for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
