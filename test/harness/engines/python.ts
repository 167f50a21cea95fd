import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "bun";
import { reportMissing } from "./installed.ts";
import { madeOnce } from "./made-once.ts";

/** The oldest version of Python that the SDK supports. */
const oldest = [3, 10] as const;

/** The path of a Python that is new enough and can make environments; `undefined` if there is none, which is a failure under CI. */
export async function findPython(): Promise<string | undefined> {
  const python = Bun.which("python3");
  const check = `import sys, venv, ensurepip; sys.exit(sys.version_info < (${oldest.join(", ")}))`;
  if (python !== null && (await $`${python} -c ${check}`.nothrow().quiet()).exitCode === 0) return python;
  return reportMissing(`Python ${oldest.join(".")} or newer with venv`, "python3-venv");
}

/**
 * The Python of an environment with packages of PyPI, whose hashes must fit. It is made once for these pins, below the system's
 * folder for temporary files.
 */
export async function keepEnvironment(python: string, pins: string): Promise<string> {
  const key = createHash("sha256").update(python).update(readFileSync(pins)).digest("hex").slice(0, 12);
  const folder = await madeOnce(`herald-python-${key}`, async (environment) => {
    await makeEnvironment(python, environment);
    await addPackages(environment, pins);
    return environment;
  });
  return join(folder, "bin/python");
}

/** Makes an environment without packages in this folder. */
export async function makeEnvironment(python: string, environment: string): Promise<void> {
  await $`${python} -m venv ${environment}`.quiet();
}

/** Adds packages of PyPI to an environment; `pins` is a file with their versions and hashes. */
export async function addPackages(environment: string, pins: string): Promise<void> {
  const options = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
  await $`${environment}/bin/python -m pip ${options} --requirement ${pins}`.quiet();
}
