// Writes the software bill of materials (CycloneDX) of Herald's production packages to dist/. `npm run sbom`.
import { mkdirSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { productionPackages } from "./package-lock.ts";

const file = "dist/herald.cdx.json";

const componentSchema = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const dependencySchema = z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() });
const bomSchema = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.string(),
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(dependencySchema),
});

/** A bill of materials, as far as it is read here. */
export type Bom = z.infer<typeof bomSchema>;

/** Npm's bill of all packages, including those for development. */
export const askNpm = (): Bom => {
  const command = ["npm", "sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  return bomSchema.parse(JSON.parse(stdout.toString()));
};

/** Reduces a bill of all packages to those installed for production. Throws if it lacks one of them. */
export const forProduction = (bom: Bom, wanted: readonly { name: string; version: string }[]): Bom => {
  const refs = new Set(wanted.map(({ name, version }) => `${name}@${version}`));
  const components = bom.components.filter((component) => refs.has(component["bom-ref"]));
  const found = new Set(components.map((component) => component["bom-ref"]));
  const missing = [...refs].filter((ref) => !found.has(ref));
  if (missing.length > 0) throw new Error(`npm's bill of materials lacks ${missing.join(", ")}`);
  const root = bom.metadata.component;
  const dependencies = bom.dependencies
    .filter(({ ref }) => found.has(ref) || ref === root["bom-ref"])
    .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn?.filter((ref) => found.has(ref)) ?? [] }));
  // npm names it after the folder.
  const component = { ...root, name: root["bom-ref"].replace(/@[^@]*$/, "") };
  return { ...bom, metadata: { ...bom.metadata, component }, components, dependencies };
};

if (import.meta.main) {
  const bom = forProduction(askNpm(), productionPackages());
  mkdirSync("dist", { recursive: true });
  writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
  console.log(`${file}: ${bom.components.length} packages, CycloneDX ${bom.specVersion}`);
}
