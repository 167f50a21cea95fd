// Installs the generators of clients that the tests run on the OpenAPI document, and what the clients that they make need.
// `bun test/harness/engines/generators.ts`, which .ci/run calls first, because a first build takes a minute.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { findGo } from "./go.ts";
import { reportMissing } from "./installed.ts";
import { madeOnce } from "./made-once.ts";
import { findPython, keepEnvironment } from "./python.ts";

const folderOfTests = resolve(import.meta.dir, "../../generators");
const document = resolve(import.meta.dir, "../../../docs/reference/openapi.json");

const jar = "org.openapitools:openapi-generator-cli:7.25.0";
const goGenerator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

/** Where the programs are. `javaLibraries` holds what a generated client in Java needs. */
export type Generators = {
  openapiGenerator: string;
  javaLibraries: string;
  oapiCodegen: string;
  go: string;
  python: string;
};

/** Installs the generators below the system's folder for temporary files, or finds them; `undefined` if a language is missing. */
export async function findGenerators(): Promise<Generators | undefined> {
  if (Bun.which("javac") === null || Bun.which("mvn") === null)
    return reportMissing("A Java development kit with Maven", "default-jdk-headless maven");
  const [go, python] = [await findGo(), await findPython()];
  if (go === undefined || python === undefined) return undefined;
  const modules = ["go.mod", "go.sum"].map((name) => readFileSync(join(folderOfTests, "programs", name), "utf8"));
  const key = createHash("sha256")
    .update(JSON.stringify([jar, goGenerator, modules]))
    .digest("hex")
    .slice(0, 12);
  const folder = await madeOnce(`herald-generators-${key}`, (unfinished) => install(unfinished, go));
  return {
    openapiGenerator: join(folder, "openapi-generator.jar"),
    javaLibraries: join(folder, "java-libraries"),
    oapiCodegen: join(folder, "oapi-codegen"),
    go,
    python: await keepEnvironment(python, join(folderOfTests, "python-client.txt")),
  };
}

async function install(folder: string, go: string): Promise<string> {
  const maven = ["--batch-mode", "--quiet"];
  const generator = join(folder, "openapi-generator.jar");
  await $`mvn ${maven} dependency:copy -Dartifact=${jar} -DoutputDirectory=${folder} -Dmdep.stripVersion=true`.quiet();
  copyFileSync(join(folder, "openapi-generator-cli.jar"), generator);
  // The generated project names the libraries, with their versions.
  const client = join(folder, "client");
  await $`java -jar ${generator} generate -i ${document} -g java -o ${client}`.quiet();
  const libraries = join(folder, "java-libraries");
  await $`mvn ${maven} dependency:copy-dependencies -DincludeScope=compile -DoutputDirectory=${libraries}`
    .cwd(client)
    .quiet();
  await $`${go} install ${goGenerator}`.env({ ...process.env, GOBIN: folder }).quiet();
  const modules = join(folder, "go");
  mkdirSync(modules);
  for (const name of ["go.mod", "go.sum"]) copyFileSync(join(folderOfTests, "programs", name), join(modules, name));
  await $`${go} mod download`.cwd(modules).quiet();
  return folder;
}

if (import.meta.main) {
  const found = await findGenerators();
  if (found !== undefined) console.log(`installed: ${Object.values(found).join(", ")}`);
}
