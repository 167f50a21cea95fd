import type { Values } from "./rendered.ts";

const image = { repository: "registry.example.com/herald" };

/** What the chart is tested with, by name: what people install, and everything that can be switched on. */
export const valueSets = {
  single: { image },
  "single, with secrets and a claim": {
    image: { ...image, tag: "1.2.3" },
    existingSecret: "herald",
    persistence: { existingClaim: "herald-data" },
    settings: { HERALD_LIMIT_REQUEST_BYTES: 2_097_152, HERALD_ALLOWED_ORIGINS: "https://app.example.com" },
  },
  "single, all on one port": {
    image,
    internal: { enabled: false },
    secrets: { HERALD_METRICS_TOKEN: { name: "herald", key: "metrics" } },
    serviceMonitor: { enabled: true },
    networkPolicy: { enabled: false },
    serviceAccount: { create: false },
  },
  cluster: { image, mode: "cluster", existingSecret: "herald" },
  "cluster, with a bucket": {
    image,
    mode: "cluster",
    existingSecret: "herald",
    settings: { HERALD_FILES_URL: "s3://bucket/herald" },
    secrets: {
      HERALD_FILES_S3_ACCESS_KEY_ID: { name: "herald-bucket", key: "id" },
      HERALD_FILES_S3_SECRET_ACCESS_KEY: { name: "herald-bucket", key: "secret" },
    },
  },
  "cluster, with everything": {
    image: { ...image, digest: `sha256:${"0".repeat(64)}`, pullPolicy: "Always" },
    imagePullSecrets: [{ name: "registry" }],
    mode: "cluster",
    fullnameOverride: "messages",
    existingSecret: "herald",
    secrets: {
      HERALD_DATABASE_URL: { name: "herald-db-app", key: "uri" },
      HERALD_MIGRATION_URL: { name: "herald-db-owner", key: "uri" },
    },
    settings: { HERALD_TRUSTED_PROXIES: "10.0.0.0/8", HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: 0 },
    service: { type: "LoadBalancer", annotations: { a: "b" } },
    files: { existingClaim: "herald-files" },
    preStopSeconds: 15,
    autoscaling: { enabled: true, maxReplicas: 5 },
    podDisruptionBudget: { maxUnavailable: "30%" },
    ingress: {
      enabled: true,
      className: "nginx",
      annotations: { "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600" },
      hosts: ["herald.example.com"],
      tls: [{ secretName: "herald-tls", hosts: ["herald.example.com"] }],
    },
    httpRoute: {
      enabled: true,
      parentRefs: [{ name: "gateway", namespace: "edge" }],
      hostnames: ["herald.example.com"],
    },
    networkPolicy: {
      publicFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "edge" } } }],
      internalFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      egress: [{ ports: [{ port: 5432, protocol: "TCP" }] }],
    },
    serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
    prometheusRule: { enabled: true, labels: { release: "prometheus" } },
    podAnnotations: { a: "b" },
    podLabels: { team: "messages" },
    nodeSelector: { "kubernetes.io/arch": "amd64" },
    tolerations: [{ key: "spot", operator: "Exists" }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" },
    ],
    priorityClassName: "high",
    extraEnv: [{ name: "NODE_EXTRA_CA_CERTS", value: "/ca/ca.pem" }],
    extraVolumes: [{ name: "ca", configMap: { name: "ca" } }],
    extraVolumeMounts: [{ name: "ca", mountPath: "/ca" }],
  },
} satisfies Record<string, Values>;

/** Values that the chart refuses, with a part of the reason. */
export const refusedValues: readonly (readonly [string, Values, string])[] = [
  ["a value that does not exist", { image, replica: 3 }, "property replica is not allowed"],
  ["a nested one", { image: { ...image, repo: "x" } }, "property repo is not allowed"],
  [
    "a setting that does not exist",
    { image, settings: { HERALD_LIMIT_PINGS: 3 } },
    "property HERALD_LIMIT_PINGS is not allowed",
  ],
  ["a setting that the chart gives", { image, settings: { HERALD_PORT: 80 } }, "property HERALD_PORT is not allowed"],
  [
    "a secret in plain text",
    { image, settings: { HERALD_TOKEN_SECRET: "s" } },
    "property HERALD_TOKEN_SECRET is not allowed",
  ],
  ["a secret without its key", { image, secrets: { HERALD_TOKEN_SECRET: { name: "herald" } } }, "key is required"],
  ["an unknown mode", { image, mode: "ha" }, '"single", "cluster"'],
  ["a digest that is none", { image: { ...image, digest: "latest" } }, "Does not match pattern"],
  ["no image", {}, "image.repository is required"],
  ["a cluster without secrets", { image, mode: "cluster" }, "a cluster needs HERALD_ADMIN_API_KEY"],
  [
    "a single node with a database",
    { image, secrets: { HERALD_DATABASE_URL: { name: "herald", key: "url" } } },
    "set mode to cluster",
  ],
  ["several single nodes", { image, autoscaling: { enabled: true } }, "autoscaling needs mode: cluster"],
  [
    "two places for files",
    { image, files: { existingClaim: "files" }, settings: { HERALD_FILES_URL: "s3://bucket" } },
    "exclude each other",
  ],
  ["a grace period that is too short", { image, preStopSeconds: 20 }, "must be at least 35"],
  ["an ingress without hosts", { image, ingress: { enabled: true } }, "ingress.hosts is required"],
  ["a route without parents", { image, httpRoute: { enabled: true } }, "httpRoute.parentRefs is required"],
  [
    "metrics that nobody may read",
    { image, internal: { enabled: false }, serviceMonitor: { enabled: true } },
    "serviceMonitor needs internal.enabled",
  ],
];
