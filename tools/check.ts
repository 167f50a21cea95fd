// Runs every check, two at a time, and prints one line for each with its duration; only a failed check shows its
// output. `npm run check` runs all, `npm run check -- types imports` those two.
import { spawn } from "bun";

type Check = { readonly name: string; readonly command: readonly string[] };

const bin = (name: string) => `node_modules/.bin/${name}`;

/** Slow ones first, so that both cores finish together. */
const checks: readonly Check[] = [
  { name: "contract", command: [process.execPath, "tools/lint-contract.ts"] },
  { name: "reference", command: [process.execPath, "tools/generate-contract.ts", "--check"] },
  { name: "types", command: ["node_modules/@typescript/native/bin/tsc", "--noEmit", "--pretty", "false"] },
  { name: "dead code", command: [bin("knip"), "--no-progress"] },
  { name: "promises", command: [bin("oxlint"), "--type-aware", "--deny-warnings", "--format=unix"] },
  { name: "imports", command: [process.execPath, "tools/checks/check-imports.ts"] },
  { name: "lint", command: [bin("biome"), "lint", "--error-on-warnings", "--max-diagnostics=200"] },
  {
    name: "format",
    command: [bin("biome"), "check", "--linter-enabled=false", "--error-on-warnings", "--max-diagnostics=200"],
  },
  { name: "package", command: [process.execPath, "tools/checks/check-package.ts"] },
  { name: "sizes", command: [process.execPath, "tools/checks/check-sizes.ts"] },
  { name: "docstrings", command: [process.execPath, "tools/checks/check-docstrings.ts"] },
  { name: "licences", command: [process.execPath, "tools/checks/check-licences.ts"] },
];

const atOnce = 2;
/** The lines shown of one failed check among several; a check run alone shows everything. */
const maxLinesShown = 60;
const slug = (name: string) => name.replaceAll(" ", "-");

const shorten = (output: string, name: string): string => {
  const lines = output.trim().split("\n");
  if (chosen.length === 1 || lines.length <= maxLinesShown) return lines.join("\n");
  const rest = lines.length - maxLinesShown;
  return `${lines.slice(0, maxLinesShown).join("\n")}\n… ${rest} more lines: npm run check -- ${slug(name)}`;
};

const run = async ({ name, command }: Check): Promise<boolean> => {
  const startedAt = performance.now();
  const child = spawn([...command], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1", CI: "1" },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(11)} ${seconds.padStart(5)} s`);
  if (code === 0) return true;
  console.log(`\n$ ${command.join(" ")}\n${shorten(`${stdout}${stderr}`, name)}\n`);
  return false;
};

const choose = (wanted: readonly string[]): readonly Check[] => {
  const unknown = wanted.filter((name) => !checks.some((check) => slug(check.name) === name));
  if (unknown.length > 0) {
    console.error(
      `unknown check: ${unknown.join(", ")}. There are: ${checks.map(({ name }) => slug(name)).join(", ")}`,
    );
    process.exit(2);
  }
  return wanted.length === 0 ? checks : checks.filter(({ name }) => wanted.includes(slug(name)));
};

const chosen = choose(process.argv.slice(2));
const startedAt = performance.now();
const waiting = [...chosen];
let failed = 0;

const worker = async (): Promise<void> => {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    if (!(await run(check))) failed++;
  }
};

await Promise.all(Array.from({ length: atOnce }, worker));
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(`\n${chosen.length - failed} of ${chosen.length} checks passed in ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);
