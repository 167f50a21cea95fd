import { z } from "zod";
import { describeSettings } from "../../src/config.ts";

/** Settings that the chart itself gives each pod. */
const ownedByChart = new Set([
  "HERALD_HOST",
  "HERALD_PORT",
  "HERALD_ADMIN_HOST",
  "HERALD_ADMIN_PORT",
  "HERALD_DATA_DIR",
  "HERALD_NODE_NAME",
  "HERALD_TLS_CERT",
  "HERALD_TLS_KEY",
]);

/** Settings that are secret, or that may hold a password. They come from Secrets only. */
const isSecret = (name: string): boolean =>
  /_(KEY|ACCESS_KEY_ID|SECRET|SECRET_PREVIOUS|TOKEN|PASSWORD)$|_(DATABASE|MIGRATION|BUS|OUTBOX)_URL$/.test(name);

const text = z.string();
const count = (atLeast = 0) => z.int().min(atLeast).max(1_000_000);
const port = z.int().min(1).max(65_535);
const name = z.string().min(1);
const texts = z.record(z.string(), z.string());
/** What Kubernetes itself describes and checks. */
const theirs = z.record(z.string(), z.unknown());
const listOfTheirs = z.array(theirs);

const settingsSchema = (): z.ZodType => {
  const settings = describeSettings().filter((setting) => !ownedByChart.has(setting.name) && !isSecret(setting.name));
  const value = z.union([z.string(), z.int()]);
  return z.strictObject(
    Object.fromEntries(
      settings.map(({ name, description }): [string, z.ZodType] => [name, value.optional().describe(description)]),
    ),
  );
};

const secretsSchema = (): z.ZodType => {
  const secrets = describeSettings().filter((setting) => !ownedByChart.has(setting.name) && isSecret(setting.name));
  const from = z.strictObject({ name, key: name });
  return z.strictObject(
    Object.fromEntries(
      secrets.map(({ name, description }): [string, z.ZodType] => [name, from.optional().describe(description)]),
    ),
  );
};

const service = z.strictObject({ port, annotations: texts });

const valuesSchema = () =>
  z.strictObject({
    mode: z.enum(["single", "cluster"]),
    image: z.strictObject({
      repository: text,
      tag: text,
      digest: z.string().regex(/^(sha256:[0-9a-f]{64})?$/),
      pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]),
    }),
    imagePullSecrets: z.array(z.strictObject({ name })),
    nameOverride: text,
    fullnameOverride: text,
    replicas: count(1),
    existingSecret: text,
    secrets: secretsSchema(),
    settings: settingsSchema(),
    internal: z.strictObject({ enabled: z.boolean(), service }),
    service: service.extend({ type: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]) }),
    persistence: z.strictObject({
      size: z.string().regex(/^\d+(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$/),
      storageClass: text,
      existingClaim: text,
    }),
    files: z.strictObject({ existingClaim: text }),
    preStopSeconds: z.int().min(1).max(600),
    terminationGracePeriodSeconds: count(16),
    startupSeconds: count(2),
    resources: z.strictObject({ requests: theirs.optional(), limits: theirs.optional() }),
    autoscaling: z.strictObject({
      enabled: z.boolean(),
      minReplicas: count(1),
      maxReplicas: count(1),
      targetCPUUtilizationPercentage: z.int().min(1).max(100),
    }),
    podDisruptionBudget: z.strictObject({
      enabled: z.boolean(),
      maxUnavailable: z.union([count(), z.string().regex(/^\d+%$/)]),
    }),
    ingress: z.strictObject({
      enabled: z.boolean(),
      className: text,
      annotations: texts,
      hosts: z.array(name),
      tls: z.array(z.strictObject({ secretName: name, hosts: z.array(name).optional() })),
    }),
    httpRoute: z.strictObject({
      enabled: z.boolean(),
      annotations: texts,
      parentRefs: listOfTheirs,
      hostnames: z.array(name),
    }),
    networkPolicy: z.strictObject({
      enabled: z.boolean(),
      publicFrom: listOfTheirs,
      internalFrom: listOfTheirs,
      egress: listOfTheirs,
    }),
    serviceMonitor: z.strictObject({
      enabled: z.boolean(),
      labels: texts,
      interval: z.string().regex(/^\d+(ms|s|m)$/),
    }),
    prometheusRule: z.strictObject({ enabled: z.boolean(), labels: texts }),
    serviceAccount: z.strictObject({ create: z.boolean(), name: text, annotations: texts }),
    podAnnotations: texts,
    podLabels: texts,
    nodeSelector: texts,
    tolerations: listOfTheirs,
    affinity: theirs,
    topologySpreadConstraints: listOfTheirs,
    priorityClassName: text,
    extraEnv: listOfTheirs,
    extraVolumes: listOfTheirs,
    extraVolumeMounts: listOfTheirs,
    global: theirs.optional(),
  });

/** The JSON Schema of the Helm chart's values, in the draft that every Helm 3 reads. It knows every setting by name. */
export const chartSchema = (): unknown => z.toJSONSchema(valuesSchema(), { target: "draft-7" });
