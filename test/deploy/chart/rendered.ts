import { resolve } from "node:path";
import type { DeployTools } from "../../harness/engines/deploy-tools.ts";

const chart = resolve(import.meta.dir, "../../../deploy/helm/herald");

/** The values of a chart, as in values.yaml. */
export type Values = Readonly<Record<string, unknown>>;

/** A manifest, as far as the tests look at all kinds in the same way. */
export type Manifest = { kind: string; metadata: { name: string }; spec: Record<string, unknown> };

type EnvironmentVariable = {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string }; fieldRef?: { fieldPath: string } };
};

/** A container of a rendered pod. */
export type Container = {
  image: string;
  args: string[];
  env?: EnvironmentVariable[];
  securityContext: unknown;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  volumeMounts?: { mountPath: string }[];
} & Record<
  "startupProbe" | "livenessProbe" | "readinessProbe",
  { httpGet: { path: string; port: string } } | undefined
>;

/** A rendered pod. */
export type PodSpec = {
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: boolean;
  enableServiceLinks?: boolean;
  securityContext: unknown;
  initContainers?: Container[];
  containers: [Container, ...Container[]];
};

/** Runs `helm` on the chart with these values; `output` is what it printed, or why it refused. */
export async function runHelm(
  { helm }: DeployTools,
  command: readonly string[],
  values: Values,
): Promise<{ isContent: boolean; output: string }> {
  const options = ["--kube-version", "1.34.0", "--values", "-"];
  const child = Bun.spawn([helm, ...command, chart, ...options], {
    stdin: new TextEncoder().encode(JSON.stringify(values)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { isContent: code === 0, output: code === 0 ? stdout : stdout + stderr };
}

/** The manifests that the chart makes of these values. Throws with Helm's reason if it refuses them. */
export async function renderChart(tools: DeployTools, values: Values): Promise<Manifest[]> {
  const { isContent, output } = await runHelm(tools, ["template", "herald"], values);
  if (!isContent) throw new Error(output);
  return output.split(/^---$/m).flatMap((text) => {
    const document = Bun.YAML.parse(text);
    return document === null ? [] : [document as Manifest];
  });
}

/** The manifest of this kind; throws if there is none. */
export function manifestOf(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.find(
    (manifest) => manifest.kind === kind && (name ?? manifest.metadata.name) === manifest.metadata.name,
  );
  if (found === undefined) throw new Error(`the chart made no ${kind} ${name ?? ""}`);
  return found;
}

/** Every pod of the manifests: those of workloads, and of the test. */
export function podsOf(manifests: readonly Manifest[]): PodSpec[] {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === "Pod") return [spec as PodSpec];
    if (kind !== "Deployment" && kind !== "StatefulSet") return [];
    return [(spec as { template: { spec: PodSpec } }).template.spec];
  });
}
