import { readFileSync } from "node:fs";
import { z } from "zod";
import { isIdentifier } from "./contract/identifiers.ts";
import { roleSetting } from "./contract/people/roles.ts";
import { isAddressRange, isSameAddress, type ListenAddress, namesPrivateHost } from "./lib/network/addresses.ts";
import { filesConflictOf, oidcConflictOf } from "./lib/settings/conflicts.ts";
import {
  basePath,
  flag,
  isOrigin,
  limit,
  list,
  optionalText,
  port,
  seconds,
  text,
  tokenSecret,
  url,
} from "./lib/settings/kinds.ts";
import { findMistake } from "./lib/settings/mistakes.ts";
import { readAssignments } from "./lib/text/assignments.ts";
import { areTlsCiphers, defaultTlsCiphers } from "./lib/tls/tls-ciphers.ts";

/** A setting is unknown or invalid. The message is one line that names the setting and says what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The first segments of the paths that Herald serves. */
const ownSegments = [
  ...[
    "admin",
    "asyncapi.json",
    "console",
    "docs",
    "files",
    "healthz",
    "llms.txt",
    "mcp",
    "metrics",
    "openapi.json",
    "readyz",
  ],
  ...["sse", "ws"],
];

const visibleSecret = z
  .string()
  .regex(/^[\x21-\x7e]{32,200}$/, "must be 32 to 200 visible ASCII characters")
  .optional();

/** Every setting, in the order of `herald serve --help`. */
const settings = {
  HERALD_HOST: text("127.0.0.1").describe("address to listen on"),
  HERALD_PORT: port.default("7070").transform(Number).describe("port to listen on; 0 picks a free one"),
  HERALD_ADMIN_HOST: optionalText.describe("address for HERALD_ADMIN_PORT to listen on; if not set, 127.0.0.1"),
  HERALD_ADMIN_PORT: port
    .transform(Number)
    .optional()
    .describe(
      "port of an internal address; if set, only that one serves the admin API, the console, the documentation, the metrics and /readyz, and HERALD_PORT only /ws, /sse, GET /files/… and /healthz",
    ),
  HERALD_BASE_PATH: basePath(ownSegments).describe(
    "path below which a proxy serves Herald, such as /herald, whether or not the proxy removes it; if not set, Herald has a host of its own",
  ),
  HERALD_DATA_DIR: text("./data").describe(
    "folder for the embedded database, the files of messages, and the secrets generated at the first start",
  ),
  HERALD_DATABASE_URL: url(["postgres:", "postgresql:"]).describe(
    "PostgreSQL database; if not set, Herald uses SQLite in the data folder",
  ),
  HERALD_MIGRATION_URL: url(["postgres:", "postgresql:"]).describe(
    "the same database with a user that owns the tables; Herald uses it for migrations, so that the user in HERALD_DATABASE_URL need not own anything",
  ),
  HERALD_BUS_URL: optionalText
    .refine(
      (value) =>
        value === undefined ||
        value.split(",").every((one) => /^(nats|tls):$/.test(URL.parse(one.trim())?.protocol ?? "")),
      "must be URLs that begin with nats:// or tls://, separated by commas",
    )
    .describe(
      "NATS servers that connect the nodes of a cluster, which share a PostgreSQL database; if not set, the node runs alone",
    ),
  HERALD_OUTBOX_URL: url(["postgres:", "postgresql:"]).describe(
    "PostgreSQL database of your own, whose transactions send with herald.send; `herald outbox sql` prints its setup",
  ),
  HERALD_FILES_URL: url(["s3:", "file:"]).describe(
    "where the bytes of files are kept: s3://bucket/prefix, or file:///folder, which all nodes share; if not set, in the data folder",
  ),
  HERALD_FILES_S3_ENDPOINT: url(["https:", "http:"]).describe(
    "address of the S3-compatible store; if not set, Amazon S3 in HERALD_FILES_S3_REGION",
  ),
  HERALD_FILES_S3_REGION: optionalText.describe("region of the bucket"),
  HERALD_FILES_S3_ACCESS_KEY_ID: optionalText.describe("access key id for the bucket"),
  HERALD_FILES_S3_SECRET_ACCESS_KEY: optionalText.describe("secret access key for the bucket"),
  HERALD_FILES_S3_REDIRECT: flag.describe(
    "1: downloads are redirected to the store itself, by addresses that are valid for a minute; clients must reach it, and its CORS must allow web pages",
  ),
  HERALD_WEBHOOK_ALLOW_PRIVATE: flag.describe(
    "1: webhooks may lead to private, loopback and link-local addresses, and may use http://",
  ),
  HERALD_NODE_NAME: z
    .string()
    .refine(isIdentifier, "must be 1 to 128 characters, without control characters")
    .optional()
    .describe("name of this node, which `herald nodes` shows next to its id"),
  HERALD_ADMIN_API_KEY: visibleSecret.describe(
    "admin API key with every scope; if not set, Herald generates one at the first start",
  ),
  HERALD_TOKEN_SECRET: tokenSecret.describe(
    "secret that signs user tokens (HS256); if not set, Herald generates one at the first start",
  ),
  HERALD_TOKEN_SECRET_PREVIOUS: tokenSecret.describe(
    "previous token secret; it signs no new tokens, but tokens signed with it remain valid",
  ),
  HERALD_TOKEN_JWKS_URL: url(["https:", "http:"]).describe(
    "JSON Web Key Set of an identity provider whose user tokens Herald also accepts (RS256, ES256, EdDSA)",
  ),
  HERALD_TOKEN_JWKS_ALLOW_PRIVATE: flag.describe(
    "1: the host of HERALD_TOKEN_JWKS_URL may be a name that resolves to a private address, and the URL may use http://",
  ),
  HERALD_TOKEN_ISSUER: optionalText.describe("`iss` that tokens from the identity provider must have"),
  HERALD_ADMIN_OIDC_ISSUER: url(["https:", "http:"]).describe(
    "issuer of the OpenID provider at which people sign in to the console, and whose tokens the admin API accepts as `Authorization: Bearer`; if not set, both take API keys only",
  ),
  HERALD_ADMIN_OIDC_CLIENT_ID: optionalText.describe(
    "client id of Herald at that provider, which tokens must have as their audience",
  ),
  HERALD_ADMIN_OIDC_CLIENT_SECRET: optionalText.describe(
    "client secret of Herald at that provider; if not set, Herald is a public client",
  ),
  HERALD_ADMIN_OIDC_ROLES: roleSetting.describe(
    'what people and workloads may do, by the values of their claims, as JSON: {"groups":{"support":{"scopes":["history:read"],"organizations":["acme"]}}}; without `organizations`, in all of them',
  ),
  HERALD_TLS_CERT: optionalText.describe(
    "file with the TLS certificate and its chain (PEM); if set, Herald itself serves TLS",
  ),
  HERALD_TLS_KEY: optionalText.describe("file with the private key of the TLS certificate (PEM, without a passphrase)"),
  HERALD_TLS_CIPHERS: z
    .string()
    .refine(
      areTlsCiphers,
      "must be OpenSSL names of TLS 1.2 cipher suites that this server supports, separated by colons (TLS 1.3 needs no setting)",
    )
    .default(defaultTlsCiphers)
    .describe("TLS 1.2 cipher suites, by their OpenSSL names; the TLS 1.3 suites are always enabled"),
  HERALD_ALLOWED_ORIGINS: list(
    (item) => item === "*" || isOrigin(item),
    "must be origins such as https://app.example.org or capacitor://localhost, in lower case, without a path and separated by commas, or * (not null, which is the origin of every sandboxed page)",
  ).describe(
    "origins whose web pages may connect, separated by commas, or * for all, also for pages of the origin null; the server's own origin is always allowed",
  ),
  HERALD_TRUSTED_PROXIES: list(
    isAddressRange,
    "must be addresses or ranges such as 10.0.0.0/8, separated by commas",
  ).describe(
    "addresses and ranges (CIDR) of proxies whose X-Forwarded-For, -Host and -Proto Herald trusts, separated by commas",
  ),
  HERALD_LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], "must be debug, info, warn, error or silent")
    .default("info")
    .describe("lowest level that is logged"),
  HERALD_METRICS_TOKEN: visibleSecret.describe(
    "token that GET /metrics requires (Authorization: Bearer); if not set, it serves only programs on this machine, and the internal address",
  ),
  HERALD_OTLP_URL: url(["http:", "https:"]).describe(
    "OpenTelemetry collector for traces (OTLP over HTTP; Herald appends /v1/traces); defaults to OTEL_EXPORTER_OTLP_ENDPOINT, and without either there are no traces",
  ),
  HERALD_TRACE_RATIO: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1)$/, "must be a number from 0 to 1, such as 0.01")
    .default("0")
    .transform(Number)
    .describe("share of requests that are traced even if their `traceparent` does not ask for it"),
  HERALD_DEMO: flag.describe("1: create a demo organization if the database is empty"),
  HERALD_LIMIT_REQUEST_BYTES: limit(1_048_576).describe("maximum size of a request body, in bytes"),
  HERALD_LIMIT_FILE_BYTES: limit(104_857_600).describe("maximum size of a file, in bytes"),
  HERALD_LIMIT_BODY_CHARACTERS: limit(65_536).describe("maximum length of a message body, in characters"),
  HERALD_LIMIT_X_BYTES: limit(32_768).describe("maximum size of `x` as JSON, in bytes"),
  HERALD_LIMIT_ATTACHMENTS: limit(20).describe("maximum number of attachments of a message"),
  HERALD_LIMIT_RECIPIENTS: limit(10_000).describe("maximum number of `uids` of a system message"),
  HERALD_LIMIT_PARTICIPANTS: limit(100_000).describe("maximum number of participants of a conversation"),
  HERALD_LIMIT_JSON_DEPTH: limit(32).describe("maximum nesting depth of JSON"),
  HERALD_LIMIT_FRAME_BYTES: limit(65_536).describe("maximum size of a WebSocket frame from a client, in bytes"),
  HERALD_LIMIT_REQUESTS_PER_CONNECTION: limit(120).describe("maximum WebSocket requests per connection in 60 s"),
  HERALD_LIMIT_USER_REQUESTS: limit(240).describe(
    "maximum requests per user in 60 s, over all the user's connections to a node; a large response counts as several",
  ),
  HERALD_LIMIT_CONNECTIONS_PER_USER: limit(20).describe("maximum connections per user"),
  HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: limit(1_000).describe("maximum connections per address (IPv6: per /64)"),
  HERALD_LIMIT_ORGANIZATION_FEEDS: limit(100).describe("maximum live feeds per organization and node"),
  HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: limit(4_194_304).describe(
    "maximum backlog of a connection, in bytes; beyond it, the connection is dropped",
  ),
  HERALD_LIMIT_ORGANIZATION_BACKLOG_BYTES: limit(268_435_456).describe(
    "maximum backlog of all connections of an organization on a node, in bytes; beyond it, the organization's connections with the largest backlogs are dropped",
  ),
  HERALD_LIMIT_NODE_BACKLOG_BYTES: limit(1_073_741_824).describe(
    "maximum backlog of all connections of a node, in bytes; beyond it, connections of the organization with the largest backlog are dropped, those with the largest backlogs first",
  ),
  HERALD_LIMIT_PING_SECONDS: seconds(25).describe("seconds between pings on a connection"),
  HERALD_LIMIT_PONG_SECONDS: seconds(10).describe("seconds within which a client must answer a ping"),
  HERALD_LIMIT_IDLE_SECONDS: seconds(30, 10, 255).describe("seconds that an HTTP request may be idle (10 to 255)"),
  HERALD_LIMIT_REQUESTS_PER_SECOND: limit(1_000).describe("maximum requests per second per API key"),
  HERALD_LIMIT_REQUESTS_BURST: limit(2_000).describe("maximum requests per API key in one burst"),
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: limit(5_000).describe(
    "maximum requests per second per organization, over all its API keys, unless the organization has a limit of its own",
  ),
  HERALD_LIMIT_ORGANIZATION_MESSAGES_PER_SECOND: limit(0).describe(
    "maximum messages and system messages per second per organization, unless the organization has a limit of its own",
  ),
  HERALD_LIMIT_ORGANIZATION_CONNECTIONS: limit(0).describe(
    "maximum connections of an organization's users on a node, unless the organization has a limit of its own",
  ),
  HERALD_LIMIT_ORGANIZATION_STORED_BYTES: limit(0).describe(
    "maximum bytes of stored messages and other events per organization, unless the organization has a limit of its own",
  ),
  HERALD_LIMIT_REFUSALS_PER_SECOND: limit(100).describe(
    "calls per second from one address (IPv6: from one /64) that may fail with 401 because of their key or token, or with 400 because of their `Host` or `Content-Length`; further ones get 429; this limit never refuses a call with a valid key or token",
  ),
  HERALD_LIMIT_REFUSALS_BURST: limit(2_000).describe("such calls from one address in one burst"),
  HERALD_LIMIT_TOKEN_SECONDS: limit(2_592_000).describe(
    "maximum lifetime of a user token in seconds, from `iat` to `exp`, whoever issued it; Herald refuses tokens with a longer one",
  ),
  HERALD_LIMIT_RECOVERY_MESSAGES: limit(1_000).describe("maximum number of messages that `since` recovers"),
  HERALD_LIMIT_RECOVERY_DAYS: limit(7).describe("maximum number of days that `since` reaches back"),
  HERALD_RETENTION_MESSAGES_DAYS: limit(0).describe(
    "days to keep messages, which must be more than `since` reaches back; 0 keeps them forever",
  ),
  HERALD_RETENTION_IDS_DAYS: limit(0).describe(
    "days to remember the ids of sends, so that a retry stores nothing; 0 remembers an id as long as its message is kept",
  ),
  HERALD_RETENTION_AUDIT_DAYS: limit(365).describe("days to keep the audit log; 0 keeps it forever"),
};

const schema = z.strictObject(settings);

/** All settings, parsed and frozen. Each is in the unit that its name says; a lifted limit is `Infinity`. */
export type Config = Readonly<z.output<typeof schema>>;

/** Every setting as `herald serve --help` shows it, with its default in the form in which it is set. */
export function describeSettings() {
  return Object.entries(settings).map(([name, type]) => {
    const { default: fallback = "" } = z.toJSONSchema(type, { io: "input", unrepresentable: "any" });
    return { name, defaultValue: String(fallback), description: type.description ?? "" };
  });
}

/** The variables of commands that call a server (`src/cli/access`). They are no settings, and a server ignores them. */
export const clientVariables = ["HERALD_PROFILE", "HERALD_URL"];

/**
 * Reads `HERALD_*` settings from a file of `NAME=value` lines and from the environment, which overrides the file.
 * Throws a one-line `ConfigError` if a setting is unknown or invalid.
 */
export function loadConfig(environment: Record<string, string | undefined> = process.env, file?: string): Config {
  const given: Record<string, string> = file === undefined ? {} : readSettingsFile(file);
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith("HERALD_") && value !== undefined && !clientVariables.includes(name)) given[name] = value;
  }
  // OpenTelemetry's own name for this setting, which other programs in the environment read, too.
  const { OTEL_EXPORTER_OTLP_ENDPOINT: collector } = environment;
  const takesTheirs = collector !== undefined && collector !== "" && given.HERALD_OTLP_URL === undefined;
  if (takesTheirs) given.HERALD_OTLP_URL = collector;
  const shownName = (name: string) =>
    takesTheirs && name === "HERALD_OTLP_URL" ? "OTEL_EXPORTER_OTLP_ENDPOINT" : name;
  const mistake = findMistake(given);
  if (mistake !== undefined) throw new ConfigError(`${shownName(mistake.name)} ${mistake.fault}`);
  const parsed = schema.safeParse(given);
  if (parsed.success) {
    const fault = faultBetween(parsed.data);
    if (fault !== undefined) throw new ConfigError(fault);
    return Object.freeze(parsed.data);
  }
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    throw new ConfigError(`${issue.keys[0]} is not a Herald setting; \`herald serve --help\` lists all settings`);
  }
  const name = issue?.path.join(".") ?? "";
  throw new ConfigError(`${shownName(name)} ${issue?.message}; \`herald serve --help\` explains it`);
}

/** The address that serves clients, and everything else unless there is an internal one. */
export function publicAddressOf({ HERALD_HOST: hostname, HERALD_PORT: port }: Config): ListenAddress {
  return { hostname, port };
}

/** The internal address, if there is one. */
export function internalAddressOf(config: Config): ListenAddress | undefined {
  const { HERALD_ADMIN_HOST: hostname = "127.0.0.1", HERALD_ADMIN_PORT: port } = config;
  return port === undefined ? undefined : { hostname, port };
}

/** The limits of HTTP requests. */
export function httpLimitsOf(config: Config) {
  return {
    requestBytes: config.HERALD_LIMIT_REQUEST_BYTES,
    bodyCharacters: config.HERALD_LIMIT_BODY_CHARACTERS,
    xBytes: config.HERALD_LIMIT_X_BYTES,
    attachments: config.HERALD_LIMIT_ATTACHMENTS,
    recipients: config.HERALD_LIMIT_RECIPIENTS,
    participants: config.HERALD_LIMIT_PARTICIPANTS,
    tokenSeconds: config.HERALD_LIMIT_TOKEN_SECONDS,
    jsonDepth: config.HERALD_LIMIT_JSON_DEPTH,
  };
}

/** The limits of organizations without limits of their own. 0 means no limit. */
export function organizationLimitsOf(config: Config) {
  const orNone = (limit: number) => (Number.isFinite(limit) ? limit : 0);
  return {
    requestsPerSecond: orNone(config.HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND),
    messagesPerSecond: orNone(config.HERALD_LIMIT_ORGANIZATION_MESSAGES_PER_SECOND),
    connections: orNone(config.HERALD_LIMIT_ORGANIZATION_CONNECTIONS),
    storedBytes: orNone(config.HERALD_LIMIT_ORGANIZATION_STORED_BYTES),
  };
}

/** The limits of connections, in bytes, milliseconds or counts. */
export function gatewayLimitsOf(config: Config) {
  return {
    frameBytes: config.HERALD_LIMIT_FRAME_BYTES,
    backlogBytes: config.HERALD_LIMIT_CONNECTION_BACKLOG_BYTES,
    feedsPerOrganization: config.HERALD_LIMIT_ORGANIZATION_FEEDS,
    organizationBacklogBytes: config.HERALD_LIMIT_ORGANIZATION_BACKLOG_BYTES,
    nodeBacklogBytes: config.HERALD_LIMIT_NODE_BACKLOG_BYTES,
    requestsPerWindow: config.HERALD_LIMIT_REQUESTS_PER_CONNECTION,
    userRequests: config.HERALD_LIMIT_USER_REQUESTS,
    jsonDepth: config.HERALD_LIMIT_JSON_DEPTH,
    pingMs: config.HERALD_LIMIT_PING_SECONDS * 1000,
    pongMs: config.HERALD_LIMIT_PONG_SECONDS * 1000,
    connectionsPerUser: config.HERALD_LIMIT_CONNECTIONS_PER_USER,
    connectionsPerAddress: config.HERALD_LIMIT_CONNECTIONS_PER_ADDRESS,
  };
}

const secondsOfDay = 24 * 3600;

/** The retention periods, in days. */
export function keepOf(config: Config) {
  return {
    messages: config.HERALD_RETENTION_MESSAGES_DAYS,
    ids: config.HERALD_RETENTION_IDS_DAYS,
    audit: config.HERALD_RETENTION_AUDIT_DAYS,
    tokens: config.HERALD_LIMIT_TOKEN_SECONDS / secondsOfDay,
    recovery: config.HERALD_LIMIT_RECOVERY_DAYS,
  };
}

/** The conflict between settings that are valid on their own, or `undefined`. */
function faultBetween(config: Config): string | undefined {
  const { HERALD_TOKEN_JWKS_URL: jwksUrl, HERALD_TOKEN_JWKS_ALLOW_PRIVATE: allowsPrivate } = config;
  if (jwksUrl?.startsWith("http:") === true && !allowsPrivate && !namesPrivateHost(new URL(jwksUrl)))
    return "HERALD_TOKEN_JWKS_URL must begin with https://, because anyone who can alter the keys in transit can forge tokens; set HERALD_TOKEN_JWKS_ALLOW_PRIVATE=1 to allow http:// in a private network";
  if (config.HERALD_MIGRATION_URL !== undefined && config.HERALD_DATABASE_URL === undefined)
    return "HERALD_MIGRATION_URL requires HERALD_DATABASE_URL, which Herald uses for everything but migrations; set both, or neither";
  if (config.HERALD_ADMIN_HOST !== undefined && config.HERALD_ADMIN_PORT === undefined)
    return "HERALD_ADMIN_HOST requires HERALD_ADMIN_PORT, without which everything is served on HERALD_PORT; set both, or neither";
  if (isSameAddress(publicAddressOf(config), internalAddressOf(config)))
    return "HERALD_ADMIN_PORT is the port of HERALD_PORT on the same address; set it to another one";
  if ((config.HERALD_TLS_CERT === undefined) !== (config.HERALD_TLS_KEY === undefined))
    return "HERALD_TLS_CERT and HERALD_TLS_KEY belong together; set both, or neither";
  const conflict = oidcConflictOf(config) ?? filesConflictOf(config) ?? retentionConflictOf(config);
  return conflict && `${conflict}; \`herald serve --help\` explains it`;
}

/** The conflict between retention periods, or `undefined`. Nothing may be removed that `since` can still ask for. */
function retentionConflictOf(config: Config): string | undefined {
  const {
    HERALD_RETENTION_MESSAGES_DAYS: messages,
    HERALD_RETENTION_IDS_DAYS: ids,
    HERALD_LIMIT_RECOVERY_DAYS: recovery,
  } = config;
  if (!Number.isFinite(messages)) return undefined;
  if (!Number.isFinite(recovery)) {
    return "HERALD_RETENTION_MESSAGES_DAYS must be 0 while HERALD_LIMIT_RECOVERY_DAYS is 0, because `since` may then reach back forever";
  }
  // The extra day allows for clock differences and for slow recoveries.
  if (messages < recovery + 1) {
    return `HERALD_RETENTION_MESSAGES_DAYS must be 0 or at least ${recovery + 1}, one day more than HERALD_LIMIT_RECOVERY_DAYS, which is ${recovery}`;
  }
  if (Number.isFinite(ids) && ids > messages) {
    return `HERALD_RETENTION_IDS_DAYS must be 0 or at most ${messages}, because an id is removed with its message, after HERALD_RETENTION_MESSAGES_DAYS`;
  }
  return undefined;
}

function readSettingsFile(file: string): Record<string, string> {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`--config ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  const { values, faultyLine } = readAssignments(content, /^HERALD_[A-Z0-9_]+$/);
  if (faultyLine === undefined) return values;
  throw new ConfigError(`--config ${file}, line ${faultyLine}, is not a setting; write one HERALD_NAME=value per line`);
}
