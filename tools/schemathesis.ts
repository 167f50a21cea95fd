// Schemathesis, with all its checks, against the served OpenAPI document: `npm run schemathesis`, `-- --cases 10000`, `-- --seed 1`.
// Installs it, pinned, into a virtual environment at the first run. Says in one line what is skipped where Python is missing.
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { spawn } from "bun";
import { startHerald, TEST_KEY } from "../test/harness/herald.ts";
import { reportMissing } from "../test/harness/installed.ts";

const root = resolve(import.meta.dir, "..");
const folder = join(root, "test/schemathesis");
const environment = join(root, "node_modules/.cache/schemathesis");
const program = join(environment, "bin/schemathesis");
/** About how many cases come of one example for each operation, over all phases. */
const casesPerExample = 50;

const { values } = parseArgs({
  options: { cases: { type: "string", default: "2500" }, seed: { type: "string", default: "1" } },
});
const wanted = Number(values.cases);
if (!Number.isSafeInteger(wanted) || wanted < 1) {
  console.error("usage: npm run schemathesis -- [--cases 2500] [--seed 1]");
  process.exit(2);
}

/** Runs a command and hands its output on. Returns its exit code. What it leaves in its folder is with the dependencies. */
async function run(command: string[], env: Record<string, string> = {}): Promise<number> {
  mkdirSync(environment, { recursive: true });
  const stdio = ["ignore", "inherit", "inherit"] as const;
  return await spawn(command, { cwd: environment, env: { ...process.env, ...env }, stdio: [...stdio] }).exited;
}

if (!existsSync(program)) {
  const python = Bun.which("python3");
  if (python === null || (await run([python, "-m", "venv", environment])) !== 0) {
    reportMissing("Python with venv", "python3-venv");
    process.exit(0);
  }
  const install = ["-m", "pip", "install", "--quiet", "--require-hashes", "--disable-pip-version-check", "-r"];
  if ((await run([join(environment, "bin/python"), ...install, join(folder, "requirements.txt")])) !== 0)
    process.exit(1);
}

await using herald = await startHerald({
  env: { HERALD_DEMO: "1", HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" },
});
const settings = ["--config-file", join(folder, "schemathesis.toml")];
const examples = String(Math.ceil(wanted / casesPerExample));
const options = [
  "--max-examples",
  examples,
  "--seed",
  values.seed,
  "--header",
  `Admin-Api-Key: ${TEST_KEY}`,
  "--no-color",
];
const code = await run([program, ...settings, "run", `${herald.url}/openapi.json`, ...options], {
  PYTHONPATH: folder,
  PYTHONDONTWRITEBYTECODE: "1",
});
await herald.stop();
process.exitCode = code;
