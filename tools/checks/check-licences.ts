// Checks that every package in package-lock.json, for production and for development, has a licence that lets us use
// and redistribute it.
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
]);

/** Licences for data, allowed for packages that contain nothing else. */
const dataLicences = new Set(["CC-BY-3.0", "CC-BY-4.0"]);
const dataPackages = new Set(["caniuse-lite", "spdx-exceptions"]);

/**
 * Licences with conditions on changed files, allowed for packages used only by tests and tools, which we do not
 * redistribute.
 */
const developmentLicences = new Set(["MPL-2.0"]);

/** Packages whose manifest names no licence, with the licence found in their repository, and where. */
const readByHand: Readonly<Record<string, string>> = {};

const licenceField = z.union([z.string(), z.object({ type: z.string() }).transform(({ type }) => type)]);
const manifestSchema = z.object({
  name: z.string().optional(),
  license: licenceField.optional().catch(undefined),
  licenses: z.array(licenceField).optional().catch(undefined),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    manifestSchema.extend({
      version: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
    }),
  ),
});

/** Whether an SPDX expression grants an allowed licence: one side of `A OR B` is enough, `A AND B` requires both. */
export const isAllowed = (expression: string, name: string): boolean => {
  const bare = expression.trim().replace(/^\((.*)\)$/, "$1");
  if (/ OR /i.test(bare)) return bare.split(/ OR /i).some((part) => isAllowed(part, name));
  if (/ AND /i.test(bare)) return bare.split(/ AND /i).every((part) => isAllowed(part, name));
  return allowed.has(bare) || (dataLicences.has(bare) && dataPackages.has(name));
};

/**
 * The licence in the installed package's manifest; a package for another system is not installed, so the lock file's
 * entry counts.
 */
const licenceOf = (path: string, locked: z.infer<typeof manifestSchema>, name: string): string | undefined => {
  const file = `${path}/package.json`;
  const manifest = existsSync(file) ? manifestSchema.parse(JSON.parse(readFileSync(file, "utf8"))) : locked;
  return manifest.license ?? manifest.licenses?.join(" OR ") ?? locked.license ?? readByHand[name];
};

if (import.meta.main) {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
  const entries = Object.entries(packages).filter(([path, { link }]) => path !== "" && link !== true);
  const problems = entries.flatMap(([path, locked]) => {
    const name = locked.name ?? path.replace(/^.*node_modules\//, "");
    const licence = licenceOf(path, locked, name);
    if (licence !== undefined && isAllowed(licence, name)) return [];
    if (licence !== undefined && locked.dev === true && developmentLicences.has(licence)) return [];
    return [`${name}@${locked.version}: ${licence ?? "no licence named"} (${path})`];
  });
  for (const problem of problems)
    console.error(`${problem} is not on the list of licences in tools/checks/check-licences.ts`);
  console.log(`${entries.length} packages, ${problems.length} problems`);
  process.exit(problems.length === 0 && entries.length > 0 ? 0 : 1);
}
