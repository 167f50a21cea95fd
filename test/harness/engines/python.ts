import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { reportMissing } from "./installed.ts";

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
  const folder = join(tmpdir(), `herald-python-${key}`);
  if (existsSync(folder)) return join(folder, "bin/python");
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    await $`${python} -m venv ${unfinished}`.quiet();
    const options = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
    await $`${unfinished}/bin/python ${["-m", "pip", ...options]} --requirement ${pins}`.quiet();
    if (!existsSync(folder)) renameSync(unfinished, folder); // only a complete installation gets its final name
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return join(folder, "bin/python");
}
