// Writes the software bill of materials (CycloneDX) of what runs with Herald to dist/. `npm run sbom`.
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

/** A bill of materials, as far as it is looked at here. */
export type Bom = z.infer<typeof bomSchema>;

/** What npm knows of every package, for development too. */
export const askNpm = (): Bom => {
  const command = ["npm", "sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  return bomSchema.parse(JSON.parse(stdout.toString()));
};

/** Of a bill of everything, what is installed for production. Throws when a package of the lock file is not in it. */
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
  // npm calls it what the folder is called.
  const component = { ...root, name: root["bom-ref"].replace(/@[^@]*$/, "") };
  return { ...bom, metadata: { ...bom.metadata, component }, components, dependencies };
};

if (import.meta.main) {
  const bom = forProduction(askNpm(), productionPackages());
  mkdirSync("dist", { recursive: true });
  writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
  console.log(`${file}: ${bom.components.length} packages, CycloneDX ${bom.specVersion}`);
}
