import { readFileSync } from "node:fs";
import { z } from "zod";
import { isIdentifier } from "./contract/identifiers.ts";
import { isAddressRange, namesPrivateHost } from "./lib/network/addresses.ts";
import { areTlsCiphers, defaultTlsCiphers } from "./lib/tls/tls-ciphers.ts";

/** A setting that is unknown or not valid. The message is one line that names the setting and says what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A limit: a whole number, where 0 lifts it. Lifted limits read as `Infinity`, so that code compares and never asks. */
const limit = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number (0 lifts the limit)")
    .default(String(fallback))
    .transform((text) => (text === "0" ? Number.POSITIVE_INFINITY : Number(text)));

/** A span of whole seconds, read as milliseconds. Unlike a limit it cannot be lifted: a heartbeat that never beats is a leak. */
const seconds = (fallback: number, minimum = 1, maximum = 86_400) =>
  z
    .string()
    .refine(
      (value) => /^\d{1,6}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum,
      `must be a whole number of seconds from ${minimum} to ${maximum}`,
    )
    .default(String(fallback))
    .transform((value) => Number(value) * 1000);

const text = (fallback: string) => z.string().min(1, "must not be empty").default(fallback);
const optionalText = z.string().min(1, "must not be empty").optional();
const url = (protocols: string[]) =>
  optionalText.refine(
    (value) => value === undefined || (URL.canParse(value) && protocols.includes(new URL(value).protocol)),
    {
      message: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    },
  );

/** Items with commas between them, read as an array; without the setting an empty one. */
const list = (isItem: (item: string) => boolean, message: string) =>
  z
    .string()
    .default("")
    .transform((value) => (value === "" ? [] : value.split(",").map((item) => item.trim())))
    .refine((items) => items.every(isItem), message);

/** Other schemes than those of the web are those of apps, such as `capacitor://localhost`. */
const isOrigin = (item: string) =>
  /^https?:/.test(item)
    ? !item.includes("*") && URL.parse(item)?.origin === item
    : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(item);

const flag = z
  .enum(["0", "1"], "must be 0 or 1")
  .default("0")
  .transform((value) => value === "1");
const tokenSecret = z
  .string()
  .refine((value) => Buffer.byteLength(value) >= 32, "must be at least 32 bytes (RFC 7518, section 3.2)")
  .optional();

/** Every setting, in the order in which `herald serve --help` lists them. */
const settings = {
  HERALD_HOST: text("127.0.0.1").describe("address to listen on"),
  HERALD_PORT: z
    .string()
    .refine(
      (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535,
      "must be a port from 0 to 65535 (0 picks a free one)",
    )
    .default("7070")
    .transform(Number)
    .describe("port to listen on; 0 picks a free one"),
  HERALD_DATA_DIR: text("./data").describe("folder of the embedded database and of the secrets made at first start"),
  HERALD_DATABASE_URL: url(["postgres:", "postgresql:"]).describe(
    "PostgreSQL database; without it SQLite in the data folder",
  ),
  HERALD_MIGRATION_URL: url(["postgres:", "postgresql:"]).describe(
    "the same database as the user that owns the tables: it migrates, and lets the user of HERALD_DATABASE_URL, who may own nothing, serve",
  ),
  HERALD_BUS_URL: optionalText
    .refine(
      (value) =>
        value === undefined ||
        value.split(",").every((one) => /^(nats|tls):$/.test(URL.parse(one.trim())?.protocol ?? "")),
      "must be URLs that start with nats:// or tls://, with commas between them",
    )
    .describe("NATS servers that connect several nodes on one PostgreSQL database; without it the node is alone"),
  HERALD_NODE_NAME: z
    .string()
    .refine(isIdentifier, "must be 1 to 128 characters, none of them a control character")
    .optional()
    .describe("what `herald nodes` calls this node, beside its id"),
  HERALD_ADMIN_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,200}$/, "must be 32 to 200 visible ASCII characters")
    .optional()
    .describe("admin API key with every scope; without it the first start makes one"),
  HERALD_TOKEN_SECRET: tokenSecret.describe(
    "secret that signs user tokens (HS256); without it the first start makes one",
  ),
  HERALD_TOKEN_SECRET_PREVIOUS: tokenSecret.describe(
    "secret before that one: it signs nothing any more, and its tokens are still taken",
  ),
  HERALD_TOKEN_JWKS_URL: url(["https:", "http:"]).describe(
    "keys of an identity provider whose user tokens are taken too (RS256, ES256, EdDSA)",
  ),
  HERALD_TOKEN_JWKS_ALLOW_PRIVATE: flag.describe(
    "1: the host of HERALD_TOKEN_JWKS_URL may be a name that resolves to a private address, and be asked without TLS",
  ),
  HERALD_TOKEN_ISSUER: optionalText.describe("the `iss` that tokens of the identity provider must carry"),
  HERALD_TLS_CERT: optionalText.describe(
    "file of a certificate with its chain (PEM); with it Herald itself speaks TLS",
  ),
  HERALD_TLS_KEY: optionalText.describe("file of the private key of that certificate (PEM, without a passphrase)"),
  HERALD_TLS_CIPHERS: z
    .string()
    .refine(
      areTlsCiphers,
      "must be names of TLS 1.2 suites as OpenSSL has them, with colons between them, and none that this server lacks (TLS 1.3 needs no setting)",
    )
    .default(defaultTlsCiphers)
    .describe("suites of TLS 1.2, by their names in OpenSSL; those of TLS 1.3 are always on"),
  HERALD_ALLOWED_ORIGINS: list(
    (item) => item === "*" || isOrigin(item),
    "must be origins such as https://app.example.org, lower case and without a path, with commas between them, or *",
  ).describe(
    "origins whose pages may connect from a browser, with commas between them; * for all; the server's own always may",
  ),
  HERALD_TRUSTED_PROXIES: list(
    isAddressRange,
    "must be addresses or ranges such as 10.0.0.0/8, with commas between them",
  ).describe("addresses and ranges (CIDR) of proxies whose X-Forwarded-For is believed, with commas between them"),
  HERALD_LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], "must be debug, info, warn, error or silent")
    .default("info")
    .describe("least severe level that is logged"),
  HERALD_METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,200}$/, "must be 32 to 200 visible ASCII characters")
    .optional()
    .describe(
      "token that GET /metrics asks for (Authorization: Bearer); without it, it answers programs of this machine only",
    ),
  HERALD_OTLP_URL: url(["http:", "https:"]).describe(
    "OpenTelemetry collector that takes traces (OTLP over HTTP, below /v1/traces); without it what OTEL_EXPORTER_OTLP_ENDPOINT says, else no traces",
  ),
  HERALD_TRACE_RATIO: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1)$/, "must be a number from 0 to 1, such as 0.01")
    .default("0")
    .transform(Number)
    .describe("share of requests that are traced although their `traceparent` does not ask for it"),
  HERALD_DEMO: flag.describe("1: an empty database gets a demo organization"),
  HERALD_LIMIT_REQUEST_BYTES: limit(1_048_576).describe("bytes of one request body"),
  HERALD_LIMIT_BODY_CHARACTERS: limit(65_536).describe("characters of one message body"),
  HERALD_LIMIT_X_BYTES: limit(32_768).describe("bytes of `x`, as JSON"),
  HERALD_LIMIT_ATTACHMENTS: limit(20).describe("attachments of one message"),
  HERALD_LIMIT_RECIPIENTS: limit(10_000).describe("`uids` of one system message"),
  HERALD_LIMIT_PARTICIPANTS: limit(100_000).describe("participants of one conversation"),
  HERALD_LIMIT_JSON_DEPTH: limit(32).describe("nesting of JSON"),
  HERALD_LIMIT_FRAME_BYTES: limit(65_536).describe("bytes of one WebSocket frame from a client"),
  HERALD_LIMIT_REQUESTS_PER_CONNECTION: limit(120).describe("WebSocket requests of one connection in 60 s"),
  HERALD_LIMIT_USER_REQUESTS: limit(240).describe(
    "requests of one user in 60 s over all connections of a node; large answers count more than once",
  ),
  HERALD_LIMIT_CONNECTIONS_PER_USER: limit(20).describe("connections of one user"),
  HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: limit(1_000).describe("connections from one address (IPv6: from one /64)"),
  HERALD_LIMIT_ORGANIZATION_FEEDS: limit(100).describe("live feeds of one organization on a node"),
  HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: limit(4_194_304).describe(
    "bytes that wait for one connection before it is cut",
  ),
  HERALD_LIMIT_ORGANIZATION_BACKLOG_BYTES: limit(268_435_456).describe(
    "bytes that wait for all connections of an organization on a node before its most behind are cut",
  ),
  HERALD_LIMIT_NODE_BACKLOG_BYTES: limit(1_073_741_824).describe(
    "bytes that wait for all connections of a node before the most behind are cut, of the organization for which most wait",
  ),
  HERALD_LIMIT_PING_SECONDS: seconds(25).describe("seconds between two pings of a connection"),
  HERALD_LIMIT_PONG_SECONDS: seconds(10).describe("seconds within which a ping must be answered"),
  HERALD_LIMIT_IDLE_SECONDS: seconds(30, 10, 255).describe("seconds that an HTTP request may be idle (10 to 255)"),
  HERALD_LIMIT_REQUESTS_PER_SECOND: limit(1_000).describe("requests of one API key in a second"),
  HERALD_LIMIT_REQUESTS_BURST: limit(2_000).describe("requests of one API key in one burst"),
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: limit(5_000).describe(
    "requests of one organization in a second, over all its API keys; an organization may have its own",
  ),
  HERALD_LIMIT_ORGANIZATION_MESSAGES_PER_SECOND: limit(0).describe(
    "messages and system messages of one organization in a second; an organization may have its own",
  ),
  HERALD_LIMIT_ORGANIZATION_CONNECTIONS: limit(0).describe(
    "connections of the users of one organization on a node; an organization may have its own",
  ),
  HERALD_LIMIT_ORGANIZATION_STORED_BYTES: limit(0).describe(
    "bytes of the messages and other events that are stored of one organization; an organization may have its own",
  ),
  HERALD_LIMIT_REFUSALS_PER_SECOND: limit(100).describe(
    "calls of one address (IPv6: of one /64) in a second whose key or token is refused with 401; more get 429. Valid ones never do",
  ),
  HERALD_LIMIT_REFUSALS_BURST: limit(2_000).describe("such calls of one address in one burst"),
  HERALD_LIMIT_TOKEN_SECONDS: limit(2_592_000).describe(
    "seconds that a user token may live, from `iat` to `exp`, whoever issued it; longer ones are refused",
  ),
  HERALD_LIMIT_RECOVERY_MESSAGES: limit(1_000).describe("messages recovered by `since`"),
  HERALD_LIMIT_RECOVERY_DAYS: limit(7).describe("days that `since` may reach back"),
  HERALD_RETENTION_MESSAGES_DAYS: limit(0).describe(
    "days that messages are kept, more than `since` may reach back; 0 keeps them for ever",
  ),
  HERALD_RETENTION_IDS_DAYS: limit(0).describe(
    "days that a send is known by its id, so that a retry stores nothing; 0: as long as the message is kept",
  ),
  HERALD_RETENTION_AUDIT_DAYS: limit(365).describe("days that the audit log is kept; 0 keeps it for ever"),
};

const schema = z.strictObject(settings);

/** All settings, parsed and frozen. Limits in their own units; `…_SECONDS` in milliseconds; a lifted limit is `Infinity`. */
export type Config = Readonly<z.output<typeof schema>>;

/** One line of `herald serve --help`. */
export type SettingHelp = { name: string; defaultValue: string; description: string };

/** Every setting with its default, as a person would write it. */
export function describeSettings(): SettingHelp[] {
  return Object.entries(settings).map(([name, type]) => ({
    name,
    defaultValue: defaultText(type),
    description: type.description ?? "",
  }));
}

function defaultText(type: z.ZodType): string {
  const json = z.toJSONSchema(type, { io: "input", unrepresentable: "any" });
  return json.default === undefined ? "" : String(json.default);
}

/**
 * Reads `HERALD_*` from the environment and, below it, from a file of `NAME=value` lines.
 * Throws `ConfigError`, one line, for a setting that is unknown or not valid.
 */
export function loadConfig(environment: Record<string, string | undefined> = process.env, file?: string): Config {
  const given: Record<string, string> = file === undefined ? {} : readSettingsFile(file);
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith("HERALD_") && value !== undefined) given[name] = value;
  }
  // The name that OpenTelemetry itself has for it; other programs of the environment read it, too.
  const { OTEL_EXPORTER_OTLP_ENDPOINT: collector } = environment;
  const takesTheirs = collector !== undefined && collector !== "" && given.HERALD_OTLP_URL === undefined;
  if (takesTheirs) given.HERALD_OTLP_URL = collector;
  const parsed = schema.safeParse(given);
  if (parsed.success) {
    const fault = faultBetween(parsed.data);
    if (fault !== undefined) throw new ConfigError(fault);
    return Object.freeze(parsed.data);
  }
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    throw new ConfigError(`${issue.keys[0]} is not a setting of Herald; \`herald serve --help\` lists them all`);
  }
  const name = issue?.path.join(".") ?? "";
  const shownName = takesTheirs && name === "HERALD_OTLP_URL" ? "OTEL_EXPORTER_OTLP_ENDPOINT" : name;
  throw new ConfigError(`${shownName} ${issue?.message}; \`herald serve --help\` explains it`);
}

/** The limits of what a request may bring. */
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

/** The limits of an organization that has none of its own; 0 lifts one. */
export function organizationLimitsOf(config: Config) {
  const orNone = (limit: number) => (Number.isFinite(limit) ? limit : 0);
  return {
    requestsPerSecond: orNone(config.HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND),
    messagesPerSecond: orNone(config.HERALD_LIMIT_ORGANIZATION_MESSAGES_PER_SECOND),
    connections: orNone(config.HERALD_LIMIT_ORGANIZATION_CONNECTIONS),
    storedBytes: orNone(config.HERALD_LIMIT_ORGANIZATION_STORED_BYTES),
  };
}

/** The limits of connections, in bytes, milliseconds and numbers. */
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
    pingMs: config.HERALD_LIMIT_PING_SECONDS,
    pongMs: config.HERALD_LIMIT_PONG_SECONDS,
    connectionsPerUser: config.HERALD_LIMIT_CONNECTIONS_PER_USER,
    connectionsPerAddress: config.HERALD_LIMIT_CONNECTIONS_PER_ADDRESS,
  };
}

const secondsOfDay = 24 * 3600;

/** How long things are kept, in days. */
export function keepOf(config: Config) {
  return {
    messages: config.HERALD_RETENTION_MESSAGES_DAYS,
    ids: config.HERALD_RETENTION_IDS_DAYS,
    audit: config.HERALD_RETENTION_AUDIT_DAYS,
    tokens: config.HERALD_LIMIT_TOKEN_SECONDS / secondsOfDay,
    recovery: config.HERALD_LIMIT_RECOVERY_DAYS,
  };
}

/** What is wrong with settings that are each valid, and do not go together. */
function faultBetween(config: Config): string | undefined {
  const { HERALD_TOKEN_JWKS_URL: jwksUrl, HERALD_TOKEN_JWKS_ALLOW_PRIVATE: allowsPrivate } = config;
  if (jwksUrl?.startsWith("http:") === true && !allowsPrivate && !namesPrivateHost(new URL(jwksUrl)))
    return "HERALD_TOKEN_JWKS_URL must start with https://, for who changes the keys on their way can make tokens; HERALD_TOKEN_JWKS_ALLOW_PRIVATE=1 allows http:// in a private network";
  if (config.HERALD_MIGRATION_URL !== undefined && config.HERALD_DATABASE_URL === undefined)
    return "HERALD_MIGRATION_URL goes with HERALD_DATABASE_URL, which says what serves; set both, or neither";
  if ((config.HERALD_TLS_CERT === undefined) !== (config.HERALD_TLS_KEY === undefined))
    return "HERALD_TLS_CERT and HERALD_TLS_KEY go together: set both, or neither";
  const conflict = retentionConflictOf(config);
  return conflict && `${conflict}; \`herald serve --help\` explains it`;
}

/** What does not fit together in how long things are kept: nothing may be removed that `since` may ask for. */
function retentionConflictOf(config: Config): string | undefined {
  const {
    HERALD_RETENTION_MESSAGES_DAYS: messages,
    HERALD_RETENTION_IDS_DAYS: ids,
    HERALD_LIMIT_RECOVERY_DAYS: recovery,
  } = config;
  if (!Number.isFinite(messages)) return undefined;
  if (!Number.isFinite(recovery)) {
    return "HERALD_RETENTION_MESSAGES_DAYS must be 0 while HERALD_LIMIT_RECOVERY_DAYS is 0: `since` may reach back for ever";
  }
  // The day more is for clocks that differ, and for a recovery that takes its time.
  if (messages < recovery + 1) {
    return `HERALD_RETENTION_MESSAGES_DAYS must be 0 or at least ${recovery + 1}: a day more than HERALD_LIMIT_RECOVERY_DAYS, which is ${recovery}`;
  }
  if (Number.isFinite(ids) && ids > messages) {
    return `HERALD_RETENTION_IDS_DAYS must be 0 or at most ${messages}: an id goes with its message, after HERALD_RETENTION_MESSAGES_DAYS`;
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
  const given: Record<string, string> = {};
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const match = /^\s*(HERALD_[A-Z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) {
      throw new ConfigError(`--config ${file}, line ${index + 1}: write HERALD_NAME=value, one setting a line`);
    }
    given[match[1]] = match[2].replace(/^(["'])(.*)\1$/, "$2");
  }
  return given;
}
