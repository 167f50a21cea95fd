import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { generatePythonModels, generatorPins, pythonModelsFile } from "../../tools/sdks/python-models.ts";
import { findPython, keepEnvironment } from "../harness/engines/python.ts";
import { startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";

const root = resolve(import.meta.dir, "../..");
const pins = join(import.meta.dir, "python/requirements.txt");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const wheel = `herald_sdk-${version}-py3-none-any.whl`;
const found = await findPython();
const folder = mkdtempSync(join(tmpdir(), "herald-python-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Builds the SDK, and installs the wheel in a new environment. Returns its Python. */
async function install(python: string): Promise<string> {
  const environment = join(folder, "environment");
  const tools = await keepEnvironment(python, pins);
  await $`cp --archive --link ${resolve(tools, "../..")} ${environment}`; // its files are only added to
  const own = join(environment, "bin/python");
  const built = join(folder, "dist");
  // The wheel is built from the source distribution, which therefore is complete.
  await $`${own} -m build --no-isolation --outdir ${built} ${join(root, "sdk-python")}`.quiet();
  expect(readdirSync(built).sort()).toEqual([wheel, `herald_sdk-${version}.tar.gz`]);
  await $`${own} -m pip install --quiet --no-deps --no-index ${join(built, wheel)}`.quiet();
  await $`${own} -m pip check`.quiet();
  return own;
}

const python = found && (await install(found));

describe.skipIf(python === undefined)("the Python SDK", () => {
  if (found === undefined || python === undefined) return;
  const tests = join(folder, "tests");
  cpSync(join(root, "sdk-python/tests"), tests, { recursive: true });
  cpSync(join(root, "sdk-python/pyproject.toml"), join(folder, "pyproject.toml"));

  test("has the models that its generator makes", async () => {
    const generator = await keepEnvironment(found, generatorPins);
    expect(await generatePythonModels(generator)).toBe(readFileSync(pythonModelsFile, "utf8"));
  });

  test("is typed, as a program elsewhere sees it", async () => {
    for (const what of [["-p", "herald"], [tests]]) {
      const { stdout } = await $`${python} -m mypy ${what}`.cwd(folder).nothrow().quiet();
      expect(stdout.toString()).toStartWith("Success");
    }
  });

  test("passes its tests with a real server, installed from the wheel", async () => {
    await using server = await startHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
    const variables = {
      ...process.env,
      HERALD_TEST_URL: server.url,
      HERALD_TEST_KEY: server.key,
      HERALD_TEST_TOKEN_SECRET: TEST_TOKEN_SECRET,
    };
    const run = await $`${python} -W error -m pytest --no-header ${tests}`.cwd(folder).env(variables).nothrow().quiet();
    expect([run.exitCode, run.stdout.toString()]).toEqual([0, expect.stringMatching(/^\.+ .*\d+ passed in/s)]);
  });
});
