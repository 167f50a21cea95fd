import { readFileSync } from "node:fs";
import { z } from "zod";

const entrySchema = z.object({ name: z.string().optional(), version: z.string(), dev: z.boolean().optional() });
const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });

/** A package that is installed where Herald runs: the path that npm gives it, and which one it is. */
export type LockedPackage = { readonly path: string; readonly name: string; readonly version: string };

/**
 * The packages that package-lock.json names for production. Read here and not asked of npm: `--omit dev` of npm 11.19 also leaves
 * out what a tool for development happens to need as well.
 */
export const productionPackages = (file = "package-lock.json"): readonly LockedPackage[] => {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (path === "") return [];
    const { name, version, dev } = entrySchema.parse(entry);
    return dev === true ? [] : [{ path, name: name ?? path.replace(/^.*node_modules\//, ""), version }];
  });
};
