import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/config.ts";
import { findDeployTools, kubernetesVersions } from "../../harness/engines/deploy-tools.ts";
import { manifestOf, podsOf, renderChart, runHelm, type Values } from "./rendered.ts";
import { refusedValues, valueSets } from "./value-sets.ts";

/** How long Herald takes to stop at most, in seconds: docs/how-to/run-as-a-service.md. */
const drainSeconds = 12;
/** Definitions that exist only with the Prometheus operator, whose schemas no registry has. Tests look at them. */
const unchecked = "ServiceMonitor,PrometheusRule";

const tools = await findDeployTools();
const sets = Object.entries<Values>(valueSets);
const cases = tools === undefined ? [] : sets.map(([name, values]) => ({ name, values, tools }));

describe.each(cases)("the chart, $name", ({ values, tools }) => {
  test("is accepted by Helm's own checks", async () => {
    const { isContent, output } = await runHelm(tools, ["lint", "--strict"], values);
    expect({ isContent, output }).toEqual({ isContent: true, output: expect.stringContaining("0 chart(s) failed") });
  });

  test.each(kubernetesVersions)("is valid on Kubernetes %s", async (version) => {
    const { output } = await runHelm(tools, ["template", "herald"], values);
    const options = ["-strict", "-summary", "-kubernetes-version", version, "-skip", unchecked];
    const child = Bun.spawnSync([tools.kubeconform, ...options, "-schema-location", tools.schemas], {
      stdin: Buffer.from(output),
    });
    expect(child.stdout.toString() + child.stderr.toString()).toContain("Invalid: 0, Errors: 0");
    expect(child.exitCode).toBe(0);
  });

  test("runs pods that fit the restricted security standard, and cannot write outside their volumes", async () => {
    const pods = podsOf(await renderChart(tools, values));
    expect(pods).toHaveLength(2);
    for (const { securityContext, automountServiceAccountToken, initContainers = [], containers } of pods) {
      expect(automountServiceAccountToken).toBeFalse();
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      for (const container of [...initContainers, ...containers]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  test("keeps the variables that Kubernetes makes of Services out of its pods, which are no settings", async () => {
    const pods = podsOf(await renderChart(tools, values));
    expect(pods.map(({ enableServiceLinks }) => enableServiceLinks)).toEqual([false, false]);
  });

  test("gives Herald the time to drain", async () => {
    const pod = podsOf(await renderChart(tools, values)).find(({ containers: [{ args }] }) => args[0] === "serve");
    const preStop = pod?.containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
    expect(preStop).toBeGreaterThan(0);
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(preStop + drainSeconds);
  });

  test("passes secrets by reference only", async () => {
    const manifests = await renderChart(tools, values);
    expect(manifests.map(({ kind }) => kind)).not.toContain("Secret");
    expect(manifests.map(({ kind }) => kind)).not.toContain("ConfigMap");
    const variables = podsOf(manifests).flatMap(({ containers: [{ env = [] }] }) => env);
    const plain = variables.filter(({ value }) => value !== undefined).map(({ name }) => name);
    expect(plain.filter((name) => /KEY|SECRET|TOKEN|PASSWORD|(DATABASE|MIGRATION|BUS)_URL/.test(name))).toEqual([]);
  });

  test("starts Herald with settings that it accepts", async () => {
    const [pod] = podsOf(await renderChart(tools, values));
    const env = pod?.containers[0].env ?? [];
    const examples: Record<string, string> = {
      HERALD_DATABASE_URL: "postgres://herald@db/herald",
      HERALD_MIGRATION_URL: "postgres://owner@db/herald",
      HERALD_BUS_URL: "nats://nats",
    };
    const settings = env.map(({ name, value }) => [name, value ?? examples[name] ?? "x".repeat(48)]);
    expect(loadConfig(Object.fromEntries(settings))).toMatchObject({
      HERALD_HOST: "0.0.0.0",
      HERALD_DATA_DIR: "/data",
    });
  });
});

describe.if(tools !== undefined)("the chart", () => {
  const found = tools as NonNullable<typeof tools>;

  test.each(refusedValues)("refuses %s", async (_, values, reason) => {
    const { isContent, output } = await runHelm(found, ["template", "herald"], values);
    expect({ isContent, output }).toEqual({ isContent: false, output: expect.stringContaining(reason) });
  });

  test("lets a cluster keep files only where all pods have them", async () => {
    const placeOf = async (values: Values) => {
      const [pod] = podsOf(await renderChart(found, values));
      const { env = [], volumeMounts = [] } = pod?.containers[0] ?? {};
      const value = (name: string) => env.find((one) => one.name === name)?.value;
      const mount = volumeMounts.find(({ mountPath }) => mountPath === "/files") !== undefined;
      return [value("HERALD_FILES_URL"), value("HERALD_LIMIT_FILE_BYTES"), mount];
    };
    expect(await placeOf(valueSets.single)).toEqual([undefined, undefined, false]);
    expect(await placeOf(valueSets.cluster)).toEqual([undefined, "1", false]);
    expect(await placeOf(valueSets["cluster, with a bucket"])).toEqual(["s3://bucket/herald", undefined, false]);
    expect(await placeOf(valueSets["cluster, with everything"])).toEqual(["file:///files", undefined, true]);
  });

  test("probes the process for its life, and the database where only the cluster can ask", async () => {
    for (const [values, port] of [
      [valueSets.cluster, "internal"],
      [valueSets["single, all on one port"], "public"],
    ] as const) {
      const [
        {
          containers: [container],
        } = { containers: [] },
      ] = podsOf(await renderChart(found, values));
      expect(container?.startupProbe?.httpGet).toEqual({ path: "/healthz", port: "public" });
      expect(container?.livenessProbe?.httpGet).toEqual({ path: "/healthz", port: "public" });
      expect(container?.readinessProbe?.httpGet).toEqual({ path: "/readyz", port });
    }
  });

  test("shows the world only what clients use", async () => {
    const manifests = await renderChart(found, valueSets["cluster, with everything"]);
    const { rules: routes } = manifestOf(manifests, "HTTPRoute").spec as {
      rules: { matches: { path: { value: string } }[]; backendRefs: unknown }[];
    };
    expect(routes.flatMap(({ matches }) => matches.map(({ path }) => path.value))).toEqual(["/ws", "/sse", "/files"]);
    expect(routes.map(({ backendRefs }) => backendRefs)).toEqual([[{ name: "messages", port: 7070 }]]);
    const { rules } = manifestOf(manifests, "Ingress").spec as {
      rules: { http: { paths: { path: string; backend: { service: { name: string } } }[] } }[];
    };
    const paths = rules.flatMap(({ http }) => http.paths);
    expect(paths.map(({ path, backend }) => [path, backend.service.name])).toEqual([
      ["/ws", "messages"],
      ["/sse", "messages"],
      ["/files", "messages"],
    ]);
    const internal = manifestOf(manifests, "Service", "messages-internal").spec;
    expect(internal).toMatchObject({ ports: [{ name: "internal", port: 7071 }] });
    expect(internal.type).toBeUndefined();
    const { ingress } = manifestOf(manifests, "NetworkPolicy").spec as {
      ingress: { ports: { port: string }[]; from?: unknown[] }[];
    };
    expect(ingress.find(({ ports }) => ports[0]?.port === "internal")?.from).toHaveLength(2);
  });

  test("lets Prometheus read every pod under the name that the alerts look for, and brings the alerts", async () => {
    const manifests = await renderChart(found, valueSets["cluster, with everything"]);
    expect(manifestOf(manifests, "ServiceMonitor").spec).toEqual({
      selector: {
        matchLabels: {
          "app.kubernetes.io/name": "herald",
          "app.kubernetes.io/instance": "herald",
          "app.kubernetes.io/component": "internal",
        },
      },
      endpoints: [
        {
          port: "internal",
          path: "/metrics",
          interval: "15s",
          relabelings: [{ targetLabel: "job", replacement: "herald" }],
        },
      ],
    });
    const alerts = Bun.YAML.parse(await Bun.file("deploy/prometheus/alerts.yml").text()) as { groups: unknown };
    expect(manifestOf(manifests, "PrometheusRule").spec).toEqual(alerts);
    const token = manifestOf(await renderChart(found, valueSets["single, all on one port"]), "ServiceMonitor").spec;
    expect(token).toMatchObject({
      endpoints: [{ port: "public", authorization: { credentials: { key: "metrics" } } }],
    });
  });

  test("asks both addresses in `helm test`", async () => {
    const pod = manifestOf(await renderChart(found, valueSets.cluster), "Pod").spec;
    expect(pod).toMatchObject({
      initContainers: [{ args: ["health", "--url", "http://herald-internal:7071"] }],
      containers: [{ args: ["health", "--live", "--url", "http://herald:7070"] }],
    });
  });
});
