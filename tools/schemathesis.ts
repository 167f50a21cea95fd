// Runs Schemathesis, with all its checks, against the served OpenAPI document: `npm run schemathesis`, `-- --cases
// 10000`, `-- --seed 1`. On first use, installs a pinned version into a virtual environment. Prints one line about what
// is skipped if Python is missing.
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { spawn } from "bun";
import { reportMissing } from "../test/harness/engines/installed.ts";
import { errorsLogged, startHerald, TEST_KEY } from "../test/harness/servers/herald.ts";

const root = resolve(import.meta.dir, "..");
const folder = join(root, "test/schemathesis");
const environment = join(root, "node_modules/.cache/schemathesis");
const program = join(environment, "bin/schemathesis");
/** The number of cases that any run yields, and the minimum that each further example adds per operation. */
const casesOfAny = 1_300;
const casesPerExample = 20;

const { values } = parseArgs({
  options: { cases: { type: "string", default: "2500" }, seed: { type: "string", default: "1" } },
});
const wanted = Number(values.cases);
if (!Number.isSafeInteger(wanted) || wanted < 1) {
  console.error("usage: npm run schemathesis -- [--cases 2500] [--seed 1]");
  process.exit(2);
}

/** Runs a command and shows its output. Its files go to a folder beside the dependencies. */
async function run(command: string[], env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  mkdirSync(environment, { recursive: true });
  const child = spawn(command, { cwd: environment, env: { ...process.env, ...env }, stderr: "inherit" });
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  return { code: await child.exited, output };
}

if (!existsSync(program)) {
  const python = Bun.which("python3");
  if (python === null || (await run([python, "-m", "venv", environment])).code !== 0) {
    reportMissing("Python with venv", "python3-venv");
    process.exit(0);
  }
  const install = ["-m", "pip", "install", "--quiet", "--require-hashes", "--disable-pip-version-check", "-r"];
  const { code } = await run([join(environment, "bin/python"), ...install, join(folder, "requirements.txt")]);
  if (code !== 0) process.exit(1);
}

await using herald = await startHerald({
  env: {
    HERALD_DEMO: "1",
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_REFUSALS_PER_SECOND: "0",
  },
});
const settings = ["--config-file", join(folder, "schemathesis.toml")];
const examples = String(Math.max(1, Math.ceil((wanted - casesOfAny) / casesPerExample)));
const options = [
  "--max-examples",
  examples,
  "--seed",
  values.seed,
  "--header",
  `Admin-Api-Key: ${TEST_KEY}`,
  "--no-color",
];
const { code, output } = await run([program, ...settings, "run", `${herald.url}/openapi.json`, ...options], {
  PYTHONPATH: folder,
  PYTHONDONTWRITEBYTECODE: "1",
});
await herald.stop();
const errors = errorsLogged(herald);
for (const error of errors) console.log(`the server logged: ${error}`);
const cases = Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
if (cases < wanted) console.log(`${cases} cases are fewer than the ${wanted} asked for`);
process.exitCode = errors.length > 0 || cases < wanted ? 1 : code;
