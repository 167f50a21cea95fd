import { readFileSync } from "node:fs";
import { z } from "zod";

const entrySchema = z.object({ name: z.string().optional(), version: z.string(), dev: z.boolean().optional() });
const linkSchema = z.object({ link: z.literal(true) }); // of node_modules to a workspace
const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });

/** A package installed where Herald runs: its path in node_modules, name and version. */
export type LockedPackage = { readonly path: string; readonly name: string; readonly version: string };

/**
 * The production packages of package-lock.json, without those of this repository. Read directly, as `--omit dev` of npm 11.19 also omits packages that
 * development tools need, too.
 */
export const productionPackages = (file = "package-lock.json"): readonly LockedPackage[] => {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (!path.includes("node_modules/") || linkSchema.safeParse(entry).success) return [];
    const { name, version, dev } = entrySchema.parse(entry);
    return dev === true ? [] : [{ path, name: name ?? path.replace(/^.*node_modules\//, ""), version }];
  });
};
