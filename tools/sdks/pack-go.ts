import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { $ } from "bun";

const root = resolve(import.meta.dir, "../..");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The version of the Go SDK: Herald's. In the repository, its tag is `sdk-go/<version>`. */
export const goVersion = `v${version}`;

/** Writes the Go SDK to a folder that is a module proxy (`GOPROXY=file://<folder>`). */
export async function packGo(go: string, proxy: string): Promise<void> {
  const pack = join(import.meta.dir, "pack.go");
  await $`${go} run ${pack} ${join(root, "sdk-go")} ${goVersion} ${join(root, "LICENSE")} ${proxy}`.quiet();
}
