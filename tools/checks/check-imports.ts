// Runs dependency-cruiser on all our code, and makes sure that it read everything: without a TypeScript version that it
// supports, it reads no files and reports no problems (docs/decisions/checks/0009-checks.md).
import { existsSync } from "node:fs";
import { $ } from "bun";
import { z } from "zod";
import { sourceFiles } from "./source-files.ts";

const reportSchema = z.object({
  modules: z.array(z.object({ source: z.string() })),
  summary: z.object({
    violations: z.array(
      z.object({
        rule: z.object({ name: z.string() }),
        from: z.string(),
        to: z.string(),
        comment: z.string().optional(),
        cycle: z.array(z.object({ name: z.string() })).optional(),
      }),
    ),
  }),
});

const folders = ["src", "sdk", "console", "test", "bench", "tools", "bin"].filter((folder) => existsSync(folder));
const cruise = await $`node_modules/.bin/depcruise --config .dependency-cruiser.cjs --output-type json ${folders}`
  .nothrow()
  .quiet();
if (cruise.stdout.length === 0) {
  console.error(cruise.stderr.toString());
  process.exit(1);
}

const { modules, summary } = reportSchema.parse(cruise.json());
const seen = new Set(modules.map(({ source }) => source));
const problems = [
  ...summary.violations.map(({ rule, from, to, comment, cycle }) => {
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(" → ");
    return `${from} → ${way} (${rule.name}${comment === undefined ? "" : `: ${comment}`})`;
  }),
  ...sourceFiles(folders)
    .filter((path) => !seen.has(path))
    .map((path) => `${path}: dependency-cruiser did not read it`),
];

for (const problem of problems) console.error(problem);
console.log(`${seen.size} modules, ${problems.length} problems`);
process.exit(problems.length === 0 && seen.size > 0 ? 0 : 1);
