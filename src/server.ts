import { accessSync, constants, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import type { Bus } from "./bus/bus.ts";
import { createLocalBus } from "./bus/local.ts";
import { type BusEvents, createNatsBus } from "./bus/nats.ts";
import { type Config, ConfigError } from "./config.ts";
import { createApiKey } from "./contract/api-key.ts";
import type { LogEvent } from "./contract/log-event.ts";
import { createGateway } from "./gateway/gateway.ts";
import type { SocketState } from "./gateway/socket.ts";
import { createApp } from "./http/app.ts";
import { createRateLimit } from "./http/limits.ts";
import { createAddressSet } from "./lib/addresses.ts";
import { createClientAddress } from "./lib/client-address.ts";
import { systemClock } from "./lib/clock.ts";
import { fetchDocument } from "./lib/fetch-document.ts";
import { followTls } from "./lib/follow-tls.ts";
import { createHttpServer, type HttpServer, overTlsOnly } from "./lib/http-server.ts";
import { createId } from "./lib/ids.ts";
import { createLogger } from "./lib/logger.ts";
import { tellOutages } from "./lib/outages.ts";
import { readOrCreateSecret } from "./lib/secret-file.ts";
import { readTls, type Tls, TlsFileError, type TlsFiles } from "./lib/tls-files.ts";
import { createCatchUp } from "./services/catch-up.ts";
import { createConversationDirectory } from "./services/conversations.ts";
import { type Demo, ensureDemo } from "./services/demo.ts";
import { createDirectory } from "./services/directory.ts";
import { createHistoryReader } from "./services/history.ts";
import { createKeys } from "./services/keys.ts";
import { createMessages } from "./services/messages.ts";
import { createNodes, type Nodes } from "./services/nodes.ts";
import { createPresence } from "./services/presence.ts";
import { createProviderKeys } from "./services/provider-keys.ts";
import { createSessions } from "./services/sessions.ts";
import { createSystemMessages } from "./services/system-messages.ts";
import { createTokens } from "./services/tokens.ts";
import type { Reader } from "./store/driver.ts";
import { openPostgres } from "./store/postgres.ts";
import { DatabaseInUseError } from "./store/sqlite.ts";
import { openSqliteThread } from "./store/sqlite-thread.ts";
import { createStore, type Database, type DatabaseEvents } from "./store/store.ts";

const requestsMayTakeMs = 5000;
const nodeBeatMs = 2000;
const leaveMayTakeMs = 1000;
const keySetMayTakeMs = 5000;
const maxKeySetBytes = 256 * 1024;
const clock = systemClock;

/** The bootstrap API key: from the settings (then without a file), or from the data folder, made at the first start. */
export type AdminKey = { value: string; file: string | undefined; isNew: boolean };

/** A running node. */
export type Herald = {
  url: string;
  adminKey: AdminKey;
  /** There when `HERALD_DEMO` is on and the database holds the demo organization. */
  demo: Demo | undefined;
  /** Stops as a node should: no new connections, requests finished, sockets closed with 1012, everything on disk. */
  stop(): Promise<void>;
};

/** Brings the database of a configuration up to date. Returns the schema's version before and after. */
export async function migrate(config: Config): Promise<{ from: number; to: number }> {
  const { migrated, close } = await openDatabase(config, { announce: () => undefined, onCrash: () => undefined });
  await close();
  return migrated;
}

/** Starts a node: the store, the services, then the port. Rejects when any of it fails, and then nothing stays open. */
export async function startHerald(
  config: Config,
  log: Logger = createLogger(config.HERALD_LOG_LEVEL),
): Promise<Herald> {
  await using starting = new AsyncDisposableStack();
  let gateway: ReturnType<typeof createGateway> | undefined;
  const onError = (error: unknown, requestId?: string) =>
    log.error({ err: error, request_id: requestId }, "something went wrong inside Herald");
  process.on("unhandledRejection", onError);
  starting.defer(() => void process.off("unhandledRejection", onError));

  const tlsFiles = tlsFilesOf(config);
  const tls = tlsFiles && openTls(tlsFiles);
  const outages = { onError, onRecovery: () => log.info("the database answers again") };
  const nodeId = createId();
  const bus = createBus(config, nodeId, { onConnect: () => void gateway?.checkHeads(), onError });
  starting.defer(() => bus.close());
  const announce = (events: LogEvent[]) => bus.publish(events);
  const database = await openDatabase(config, {
    announce,
    onCrash(error) {
      log.fatal({ err: error }, "the database thread died; the process ends, so that it is started anew");
      process.exit(1);
    },
  });
  starting.defer(() => database.close());
  const { from, to } = database.migrated;
  if (from !== to) log.info({ from, to }, "database schema brought up to date");
  const adminKey = adminKeyOf(config);
  const store = createStore({ ...database, announce });
  const services = createServices(config, store, log);
  const demo = config.HERALD_DEMO ? await ensureDemo(services.directory, services.conversations) : undefined;

  const state = { isStopping: false };
  let nodes: Nodes | undefined;
  starting.defer(() => Promise.race([nodes?.leave().catch(onError), Bun.sleep(leaveMayTakeMs)]));
  let server: HttpServer | undefined;
  let requestsFinished: Promise<void> | undefined;
  starting.defer(async () => {
    await Promise.race([requestsFinished, Bun.sleep(requestsMayTakeMs)]);
    await server?.cut();
  });
  gateway = createGateway({
    ...services,
    ...outages,
    bus,
    log: store.log,
    clock,
    clientAddress: createClientAddress(createAddressSet(config.HERALD_TRUSTED_PROXIES)),
    allowedOrigins: new Set(config.HERALD_ALLOWED_ORIGINS),
    limits: gatewayLimitsOf(config),
    publish: (topic, frame) => server?.publish(topic, frame) ?? 0,
  });
  starting.defer(() => gateway.stop());
  nodes = createNodes({
    id: nodeId,
    name: config.HERALD_NODE_NAME,
    url: () => server?.url ?? "",
    activity: gateway.activity,
    registry: database.nodes,
    clock,
  });
  const handleRequest = createApp({
    ...services,
    nodes,
    presence: createPresence({ ...store, nodes, bus }),
    keys: createKeys({ bootstrapKey: adminKey.value }),
    rateLimit: createRateLimit({
      perSecond: config.HERALD_LIMIT_REQUESTS_PER_SECOND,
      burst: config.HERALD_LIMIT_REQUESTS_BURST,
      clock,
    }),
    readiness: async () => ({ node: state.isStopping ? "stopping" : "ok", store: await checkStore(database.reader) }),
    limits: httpLimitsOf(config),
    onError,
  });

  const { webSockets, streams } = gateway;
  server = createHttpServer<SocketState>(
    (tls, port) =>
      Bun.serve<SocketState>({
        hostname: config.HERALD_HOST,
        port: port ?? config.HERALD_PORT,
        development: false,
        reusePort: false, // without it `development: false` lets a second server share the port, and half of the calls go there
        // Also the time in which a TLS handshake and a request's head must have come, however they trickle (measured).
        idleTimeout: config.HERALD_LIMIT_IDLE_SECONDS / 1000,
        // Herald answers 413 itself, with a problem document; the runtime's own limit must not come first.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        ...(tls !== undefined && { tls: { cert: tls.cert, key: tls.key } }),
        routes: {
          "/ws": overTlsOnly((request, running) => webSockets.upgrade(request, running), tls),
          "/sse": overTlsOnly((request, running) => streams.handle(request, running), tls),
        },
        fetch: overTlsOnly(handleRequest, tls),
        websocket: webSockets.handlers,
        error(error) {
          onError(error);
          return new Response(null, { status: 500 });
        },
      }),
    tls,
  );
  starting.defer(() => {
    requestsFinished = server?.stop();
  });
  await nodes.beat();
  const beat = tellOutages(nodes.beat, outages);
  const beatTimer = setInterval(() => void beat(), nodeBeatMs);
  starting.defer(() => clearInterval(beatTimer));
  if (tlsFiles !== undefined && tls !== undefined)
    starting.defer(followTls({ files: tlsFiles, current: tls, server, clock, log }));
  const { url } = server;
  log.info({ url, node: nodeId }, "listening");

  const engines = starting.move();
  return {
    url,
    adminKey,
    demo,
    async stop() {
      if (state.isStopping) return;
      state.isStopping = true;
      log.info("stopping");
      await engines.disposeAsync(); // in reverse: no new calls, sockets closed, calls finished, store, bus
      log.info("stopped");
    },
  };
}

/** The identity provider of the settings. Its keys are fetched when the first token needs them, so that its absence stops no start. */
function createProvider(config: Config, log: Logger) {
  const { HERALD_TOKEN_JWKS_URL: jwksUrl, HERALD_TOKEN_ISSUER: issuer } = config;
  if (jwksUrl === undefined) return undefined;
  if (issuer === undefined)
    log.warn("HERALD_TOKEN_ISSUER is not set: any issuer that signs with the keys of HERALD_TOKEN_JWKS_URL is trusted");
  const limits = { timeoutMs: keySetMayTakeMs, maxBytes: maxKeySetBytes };
  const keys = createProviderKeys({
    fetchKeySet: () =>
      fetchDocument(new URL(jwksUrl), { ...limits, allowsPrivate: config.HERALD_TOKEN_JWKS_ALLOW_PRIVATE }),
    clock,
    onError: (error) => log.error({ err: error }, "the keys of the identity provider cannot be fetched"),
    onRecovery: () => log.info("the keys of the identity provider were fetched again"),
  });
  return { keys, issuer };
}

function createServices(config: Config, store: ReturnType<typeof createStore>, log: Logger) {
  const tokens = createTokens({
    secret: tokenSecretOf(config),
    previousSecret: config.HERALD_TOKEN_SECRET_PREVIOUS,
    provider: createProvider(config, log),
    clock,
  });
  const maxParticipants = config.HERALD_LIMIT_PARTICIPANTS;
  const recovery = {
    maxMessages: config.HERALD_LIMIT_RECOVERY_MESSAGES,
    maxDays: config.HERALD_LIMIT_RECOVERY_DAYS,
  };
  return {
    messages: createMessages({ ...store, clock }),
    systemMessages: createSystemMessages({ ...store, clock }),
    directory: createDirectory({ ...store, tokens, clock }),
    conversations: createConversationDirectory({ ...store, maxParticipants, clock }),
    history: createHistoryReader(store),
    sessions: createSessions({ ...store, tokens, clock }),
    catchUp: createCatchUp({ ...store, ...recovery, clock }),
  };
}

function httpLimitsOf(config: Config) {
  return {
    requestBytes: config.HERALD_LIMIT_REQUEST_BYTES,
    bodyCharacters: config.HERALD_LIMIT_BODY_CHARACTERS,
    xBytes: config.HERALD_LIMIT_X_BYTES,
    attachments: config.HERALD_LIMIT_ATTACHMENTS,
    recipients: config.HERALD_LIMIT_RECIPIENTS,
    participants: config.HERALD_LIMIT_PARTICIPANTS,
    jsonDepth: config.HERALD_LIMIT_JSON_DEPTH,
  };
}

function gatewayLimitsOf(config: Config) {
  return {
    frameBytes: config.HERALD_LIMIT_FRAME_BYTES,
    backlogBytes: config.HERALD_LIMIT_CONNECTION_BACKLOG_BYTES,
    nodeBacklogBytes: config.HERALD_LIMIT_NODE_BACKLOG_BYTES,
    requestsPerWindow: config.HERALD_LIMIT_REQUESTS_PER_CONNECTION,
    jsonDepth: config.HERALD_LIMIT_JSON_DEPTH,
    pingMs: config.HERALD_LIMIT_PING_SECONDS,
    pongMs: config.HERALD_LIMIT_PONG_SECONDS,
    connectionsPerUser: config.HERALD_LIMIT_CONNECTIONS_PER_USER,
    connectionsPerAddress: config.HERALD_LIMIT_CONNECTIONS_PER_ADDRESS,
  };
}

function prepareDataFolder({ HERALD_DATA_DIR: folder }: Config): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(
      `HERALD_DATA_DIR ${folder} cannot be used (${reason}); set it to a folder that this user may write`,
    );
  }
}

function tlsFilesOf({ HERALD_TLS_CERT: cert, HERALD_TLS_KEY: key }: Config): TlsFiles | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function openTls(files: TlsFiles): Tls {
  try {
    return readTls(files, clock);
  } catch (error) {
    if (error instanceof TlsFileError)
      throw new ConfigError(`HERALD_TLS_${error.which.toUpperCase()} ${error.message}`);
    throw error;
  }
}

function createBus({ HERALD_BUS_URL: url }: Config, nodeId: string, events: BusEvents): Bus {
  return url === undefined ? createLocalBus({ nodeId }) : createNatsBus({ url, nodeId, ...events });
}

async function openDatabase(config: Config, events: DatabaseEvents): Promise<Database> {
  prepareDataFolder(config);
  const { HERALD_DATABASE_URL: url, HERALD_DATA_DIR: folder } = config;
  try {
    if (url !== undefined) return await openPostgres(url, events.announce);
    return await openSqliteThread(join(folder, "herald.db"), events);
  } catch (error) {
    if (error instanceof DatabaseInUseError) {
      throw new ConfigError(
        `HERALD_DATA_DIR ${folder} is in use by another Herald; stop that one, or set another folder`,
      );
    }
    if (url === undefined) throw error;
    throw new ConfigError(
      `HERALD_DATABASE_URL: the database at ${new URL(url).host} cannot be used (${rootCauseOf(error)}); check that it runs, and the user, the password and the name of the database`,
    );
  }
}

function rootCauseOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : rootCauseOf(error.cause);
}

function adminKeyOf(config: Config): AdminKey {
  const given = config.HERALD_ADMIN_API_KEY;
  if (given !== undefined) return { value: given, file: undefined, isNew: false };
  const file = join(resolve(config.HERALD_DATA_DIR), "admin-api-key");
  return { file, ...readOrCreateSecret(file, createApiKey) };
}

function tokenSecretOf(config: Config): string {
  const create = () => Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");
  return config.HERALD_TOKEN_SECRET ?? readOrCreateSecret(join(config.HERALD_DATA_DIR, "token-secret"), create).value;
}

async function checkStore(reader: Reader): Promise<string> {
  try {
    await reader.all("SELECT version FROM schema_version");
    return "ok";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
