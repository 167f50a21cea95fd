import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "bun";
import { z } from "zod";

const entrySchema = z.object({ version: z.string(), integrity: z.string() });
const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });

/**
 * Fetches a package with Bun's runtime from the npm registry, through npm and its cache, and returns the program in
 * `folder`. Throws unless the package has the checksum of package-lock.json.
 */
export async function fetchRuntime(name: string, folder: string): Promise<string> {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
  const { version, integrity } = entrySchema.parse(packages[`node_modules/${name}`]);
  const packed = await $`npm pack --silent --pack-destination ${folder} ${name}@${version}`.text();
  const archive = join(folder, packed.trim());
  const checksum = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (integrity !== `sha512-${checksum}`)
    throw new Error(`${name}@${version} does not have the checksum of package-lock.json`);
  await $`tar --extract --gzip --file ${archive} --directory ${folder}`;
  const program = ["bun", "bun.exe"].map((file) => join(folder, "package/bin", file)).find(existsSync);
  if (program === undefined) throw new Error(`${name}@${version} contains no runtime`);
  return program;
}
