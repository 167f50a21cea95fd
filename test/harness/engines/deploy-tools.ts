// Installs what checks the Helm chart and the compose files: Helm, kubeconform and compose-go, and the schemas of Kubernetes
// and the Gateway API. `bun test/harness/engines/deploy-tools.ts`, which .ci/run calls first, because a first build takes
// a minute, and three where Helm has to be built, too.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { reportMissing } from "./installed.ts";
import { madeOnce } from "./made-once.ts";
import { addPackages, makeEnvironment } from "./python.ts";

const pinned = (name: "schemas" | "go" | "helm"): string => resolve(import.meta.dir, `../../deploy/tools/${name}.txt`);

/** Go verifies each against the checksum database. */
const helm = "helm.sh/helm/v3/cmd/helm@v3.17.3";
const programs = {
  kubeconform: "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0",
  cmd: "github.com/compose-spec/compose-go/v2/cmd@v2.9.0",
};
const gatewayApi = "sigs.k8s.io/gateway-api@v1.4.0";

/** The oldest version of Kubernetes that the chart accepts, and the newest one whose schemas are published. */
export const kubernetesVersions = ["1.30.0", "1.37.0"] as const;

/** The installed programs, and the pattern of the schemas, as kubeconform expects it. */
export type DeployTools = { helm: string; kubeconform: string; compose: string; schemas: string };

const toolsIn = (folder: string): DeployTools => ({
  helm: join(folder, "bin/helm"),
  kubeconform: join(folder, "bin/kubeconform"),
  compose: join(folder, "bin/cmd"),
  schemas: join(folder, "schemas/{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json"),
});

/**
 * Installs the tools below the system's folder for temporary files, or finds them there; `undefined` if Python is missing,
 * which is a failure under CI. Go comes from PyPI where it is missing.
 */
export async function findDeployTools(): Promise<DeployTools | undefined> {
  if (Bun.which("python3") === null) return reportMissing("Python with venv", "python3-venv");
  const files = (["schemas", "helm"] as const).map((name) => readFileSync(pinned(name), "utf8"));
  const pins = JSON.stringify([helm, programs, gatewayApi, kubernetesVersions, ...files]);
  const key = createHash("sha256").update(pins).digest("hex").slice(0, 12);
  return toolsIn(await madeOnce(`herald-deploy-tools-${key}`, install));
}

/** Installs the tools in this folder, and returns it. */
async function install(folder: string): Promise<string> {
  const environment = join(folder, "python");
  await makeEnvironment("python3", environment);
  const add = (name: "schemas" | "go" | "helm") => addPackages(environment, pinned(name));
  await add("schemas");
  if (Bun.which("go") === null) await add("go");
  const go = Bun.which("go") ?? join(environment, "bin/go");
  const build = (program: string) =>
    $`${go} install ${program}`.env({ ...process.env, GOBIN: join(folder, "bin") }).quiet();
  for (const program of Object.values(programs)) await build(program);
  if (process.platform === "linux" && process.arch === "x64") {
    await add("helm");
    renameSync(join(environment, "bin/helm"), join(folder, "bin/helm"));
  } else await build(helm);
  await installSchemas(folder, { environment, go });
  rmSync(environment, { recursive: true });
  return folder;
}

type Installed = { environment: string; go: string };

async function installSchemas(folder: string, { environment, go }: Installed): Promise<void> {
  const [library = ""] = readdirSync(join(environment, "lib"));
  const published = join(environment, "lib", library, "site-packages/kubernetes_validate/kubernetes-json-schema");
  const route = JSON.stringify(await schemaOfRoutes(go));
  for (const version of kubernetesVersions) {
    const schemas = join(folder, "schemas", `v${version}`);
    mkdirSync(join(folder, "schemas"), { recursive: true });
    cpSync(join(published, `v${version}-local-strict`), schemas, { recursive: true });
    for (const name of readdirSync(schemas)) {
      const file = Bun.file(join(schemas, name));
      // They refer to one another by address; here, each refers to its neighbour.
      const { $id: _, ...schema } = (await file.json()) as { $id: string };
      await file.write(JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json'));
    }
    await Bun.write(join(schemas, "httproute-gateway-v1.json"), route);
  }
}

type Definition = { spec: { versions: { name: string; schema: { openAPIV3Schema: unknown } }[] } };

/** The schema of HTTPRoute, from the definition that the Gateway API publishes. */
async function schemaOfRoutes(go: string): Promise<unknown> {
  const { Dir: folder } = (await $`${go} mod download -json ${gatewayApi}`.cwd(tmpdir()).json()) as { Dir: string };
  const file = join(folder, "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml");
  const { spec } = Bun.YAML.parse(readFileSync(file, "utf8")) as Definition;
  return refuseOthers(spec.versions.find(({ name }) => name === "v1")?.schema.openAPIV3Schema);
}

/** A schema that also refuses properties which it does not name, as Kubernetes' own strict schemas do. */
function refuseOthers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refuseOthers);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, refuseOthers(value)]));
  return "properties" in schema && !("additionalProperties" in schema)
    ? { ...inner, additionalProperties: false }
    : inner;
}

if (import.meta.main) {
  const tools = await findDeployTools();
  if (tools !== undefined) console.log(`installed: ${Object.values(tools).join(", ")}`);
}
