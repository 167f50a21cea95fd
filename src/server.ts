import { type Config, gatewayLimitsOf, httpLimitsOf, keepOf } from "./config.ts";
import type { LogEvent } from "./contract/log/log-event.ts";
import type { MetricFamily } from "./contract/metrics.ts";
import { createGateway } from "./gateway/gateway.ts";
import { createHeldAnswers } from "./http/answers/held-answers.ts";
import { createApp } from "./http/app.ts";
import { type Call, followCalls, realTimeRoutes } from "./http/calls.ts";
import { createThreadScheduler } from "./lib/event-loop/thread-scheduler.ts";
import type { HttpServer } from "./lib/network/http-server.ts";
import { createGuard } from "./lib/observing/guard.ts";
import { tellOutages } from "./lib/observing/outages.ts";
import type { Secret } from "./lib/secret-file.ts";
import { createId } from "./lib/text/ids.ts";
import { steadyClock, systemClock } from "./lib/time/clock.ts";
import { inTime } from "./lib/time/in-time.ts";
import { followTls } from "./lib/tls/follow-tls.ts";
import { foreignKeysAdvice, logBreakAdvice } from "./server/advice.ts";
import { openBootstrap } from "./server/bootstrap-file.ts";
import { openBus } from "./server/bus.ts";
import { createConsolePages } from "./server/console/pages.ts";
import { createCrowds } from "./server/crowds.ts";
import { checkStore, openDatabase } from "./server/database.ts";
import { startDeliveryLedger } from "./server/delivery.ts";
import { createDrain } from "./server/drain.ts";
import { createNodeFiles } from "./server/files.ts";
import { startLastSeen } from "./server/last-seen.ts";
import { createAddressReader, startLimits } from "./server/limits.ts";
import { createClockWatch } from "./server/observing/clock-watch.ts";
import { createErrors } from "./server/observing/errors.ts";
import { createCounting, createNodeFigures } from "./server/observing/figures.ts";
import { startGauges } from "./server/observing/gauges.ts";
import { createHealth } from "./server/observing/health.ts";
import { tellLeaks } from "./server/observing/leaks.ts";
import { createScrape, measure, metricsType } from "./server/observing/metrics.ts";
import { observeCommits, openTracing } from "./server/observing/observe.ts";
import { createRequestLog } from "./server/observing/request-log.ts";
import { createNodeOutbox } from "./server/outbox.ts";
import { warnOfPlainHttp } from "./server/plain-http.ts";
import { startRetention } from "./server/retention.ts";
import { openLog, secretsOf } from "./server/secrets.ts";
import { createSends } from "./server/sends.ts";
import { createServices } from "./server/services.ts";
import { openServer } from "./server/serving.ts";
import { openTls, tlsFilesOf } from "./server/tls.ts";
import { createAudit } from "./services/audit.ts";
import { createWaits } from "./services/delivery/waits.ts";
import { type Demo, ensureDemo } from "./services/directory/demo.ts";
import { createOrganizationDirectory } from "./services/directory/organizations.ts";
import { createKeyring } from "./services/keys/keyring.ts";
import { createRefusals } from "./services/limits/refusals.ts";
import { followBusSecrets } from "./services/nodes/bus-secrets.ts";
import { createNodes, type Nodes } from "./services/nodes/nodes.ts";
import { createPresence } from "./services/presence.ts";
import { createStore } from "./store/store.ts";

const requestsMayTakeMs = 5_000; // of the outbox, webhooks and scheduled sends
const stopMayTakeMs = 12_000; // more than requests, plays and closes take, and less than the store allows a database that hangs
const stopExplanation = `did not finish all work within ${stopMayTakeMs / 1000} s; everything that was acknowledged is stored`;
const nodeBeatMs = 2_000;
const leaveMayTakeMs = 1_000;
const keyringMayTakeMs = 2_000;
const organizationLimitsMayTakeMs = 1_000;
const auditMayTakeMs = 2_000;
const deliveriesMayTakeMs = 1_000;
const tracesMayTakeMs = 2_000;
const clock = systemClock;

/** A running node. */
export type Herald = {
  url: string;
  /** The internal address, which serves the admin API and the console; \`url\` unless there is one. */
  adminUrl: string;
  adminKey: Secret;
  /** Set if `HERALD_DEMO` is on and the database holds the demo organization. */
  demo: Demo | undefined;
  /** All routes, as `GET /admin/organizations/:org`; `ALL` means any method. */
  routes: string[];
  /** The current metrics of this process. */
  metrics(): MetricFamily[];
  /**
   * Stops in order: not ready, a moment later no new connections, pending requests finished and played, connections closed with 1012
   * over a few seconds, store and bus closed. Rejects after 12 seconds; then the process should end.
   */
  stop(): Promise<void>;
};

/** The options of a worker, which shares its port: its number, and how to get the metrics of all workers. */
type WorkerOptions = { worker?: number; gatherMetrics?: () => Promise<MetricFamily[][]> };

/**
 * Starts a node: the store, the services, then the port. If any of it fails, rejects and leaves nothing open. A worker
 * shares its port with the others, and its number is in its log lines.
 */
export async function startHerald(config: Config, { worker, gatherMetrics }: WorkerOptions = {}): Promise<Herald> {
  const { log, logFigures, redaction } = openLog(config, worker);
  const { redact } = redaction;
  await using starting = new AsyncDisposableStack();
  let gateway: ReturnType<typeof createGateway> | undefined;
  const { onError, outages, dependencies, watchWrites } = createErrors(config, log);
  process.on("unhandledRejection", onError);
  starting.defer(() => void process.off("unhandledRejection", onError));

  const { HERALD_BASE_PATH: basePath } = config;
  const tlsFiles = tlsFilesOf(config);
  const tls = tlsFiles && openTls(tlsFiles);
  const nodeId = createId();
  const clientAddress = createAddressReader(config, log);
  const drain = createDrain(steadyClock);
  const state = { hasBus: config.HERALD_BUS_URL === undefined };
  const onConnect = () => {
    state.hasBus = true;
    if (dependencies.bus.isNow()) dependencies.bus.onRecovery();
    else log.info("connected to the bus");
    void gateway?.checkHeads();
  };
  let nodes: Nodes | undefined;
  const onAway = dependencies.bus.onError;
  const unsigning = () => nodes?.unsigning;
  const { bus, takeSecrets } = openBus(config, { nodeId, log, unsigning, onConnect, onAway, onError });
  starting.defer(() => bus.close());
  const tracing = await openTracing(config, { nodeId, redact, log });
  starting.defer(() => atMost(tracesMayTakeMs, tracing?.stop().catch(onError)));
  const guard = createGuard(onError);
  // Runs after the commit, so an error must not fail an acknowledged send; head checks find unpublished events.
  const announce = (events: LogEvent[]) =>
    guard(() => (tracing === undefined ? bus.publish(events) : tracing.publish(events, bus.publish)));
  const database = await openDatabase(config, {
    announce,
    onCrash(error) {
      log.fatal({ err: error }, "the database thread died; exiting, so that the supervisor restarts the process");
      process.exit(1);
    },
    onReconnect: () => void gateway?.onDatabaseBack(),
    onMigration: (message, facts) => log.info(facts, message),
  });
  starting.defer(() => database.close());
  const writeWatch = watchWrites(database);
  starting.defer(writeWatch.stop);
  const followSecrets = followBusSecrets({ ...database, clock, take: takeSecrets });
  await followSecrets();
  const { from, to } = database.migrated;
  if (from !== to) log.info({ from, to }, "migrated the database schema");
  if (database.advice !== undefined) log.warn(database.advice);
  const { adminKey, tokenSecret, keySecret } = secretsOf(config, { log, redaction });
  const counting = createCounting({ nodeId, clock, steadyClock });
  const store = createStore({ ...database, announce, observer: observeCommits(counting, tracing, guard, writeWatch) });
  const refusals = createRefusals({
    perSecond: config.HERALD_LIMIT_REFUSALS_PER_SECOND,
    burst: config.HERALD_LIMIT_REFUSALS_BURST,
    clock: steadyClock,
  });
  const { organizationLimits, use, rateLimit } = startLimits({ config, store, steadyClock, onError });
  starting.defer(() => atMost(organizationLimitsMayTakeMs, organizationLimits.stop()));
  const waits = createWaits({ bus, nodes: () => nodes?.heard ?? [nodeId] });
  const problemForm = { redact, basePath };
  const thread = createThreadScheduler();
  const parts = { config, tokenSecret, store, use, thread, clock, steadyClock, problemForm };
  const services = createServices({ ...parts, refusals, waits, log, outagesOfProvider: dependencies.provider });
  const fileParts = { ...parts, ...services, outages: dependencies.files };
  const { start: startFiles, fileFigures, ...files } = createNodeFiles(fileParts);
  const keyring = createKeyring({
    keys: store.keys,
    bootstrap: openBootstrap(adminKey),
    onKey: (key) => redaction.add([key]),
    secret: keySecret,
    clock,
    elapsed: steadyClock,
    refusals,
    onError,
  });
  starting.defer(() => atMost(keyringMayTakeMs, keyring.stop()));
  const audit = createAudit({ ...store, clock, elapsed: steadyClock, redact, onError });
  starting.defer(() => atMost(auditMayTakeMs, audit.stop()));
  const foreignKeys = await keyring.countForeign();
  if (foreignKeys > 0) log.warn({ keys: foreignKeys }, foreignKeysAdvice);
  const demo = config.HERALD_DEMO ? await ensureDemo(services.directory, services.conversations) : undefined;

  starting.defer(() => atMost(leaveMayTakeMs, nodes?.leave().catch(onError)));
  const delivery = startDeliveryLedger({ ...store, clock, log, outages });
  starting.defer(() => atMost(deliveriesMayTakeMs, delivery.stop()));
  const stopLastSeen = startLastSeen(services.lastSeen, outages);
  starting.defer(() => atMost(deliveriesMayTakeMs, stopLastSeen()));
  let server: HttpServer | undefined;
  let internalUrl: string | undefined;
  starting.defer(async () => {
    await server?.cut();
    if (gateway !== undefined) await tellLeaks(gateway.held, log);
  });
  const live = async () => (await nodes?.live()) ?? [nodeId];
  const presence = createPresence({ ...store, nodes: { live }, bus });
  const connections = createGateway({
    ...services,
    fileAddresses: files.fileAddresses,
    ...outages,
    organizationLimits,
    ledger: delivery.ledger,
    bus,
    presence,
    log: store.log,
    clock,
    steadyClock,
    clientAddress,
    allowedOrigins: new Set(config.HERALD_ALLOWED_ORIGINS),
    onForbiddenOrigin: (origin) =>
      log.info({ code: "origin_forbidden", origin }, "refused a page whose origin is not in HERALD_ALLOWED_ORIGINS"),
    limits: gatewayLimitsOf(config),
    sockets: {
      publish: (topic, frame) => server?.publish(topic, frame) ?? 0,
      countSubscribers: (topic) => server?.countSubscribers(topic) ?? 0,
    },
    nodeId,
    ratesOf: use.ratesOf,
    thread,
    onBreak: (org, { played, found, head }) => log.warn({ org, played, found, head }, logBreakAdvice),
    tracePlay: tracing?.play,
  });
  gateway = connections;
  const outbox = createNodeOutbox({ ...parts, outages: dependencies.outbox, log, onError });
  const figures = {
    ...counting.figures,
    gateway: connections.figures,
    scheduled: services.scheduler.figures,
    webhooks: services.poster.figures,
    outbox: outbox?.figures,
    files: fileFigures,
    log: logFigures,
  };
  const nodeFigures = createNodeFigures(figures, bus);
  const gauges = startGauges({ config, database, outbox, store, clock, steadyClock, onError });
  starting.defer(gauges.stop);
  const clockWatch = createClockWatch(log);
  const metrics = () => {
    const { organizations, lag } = connections.activity();
    return measure({
      figures,
      node: { id: nodeId, name: config.HERALD_NODE_NAME, worker },
      connections: { websocket: connections.count("websocket"), sse: connections.count("sse") },
      held: connections.held(),
      organizations,
      lagEvents: lag.events,
      bus,
      gauges: gauges.current(),
      clockOffsetMs: clockWatch.offsetMs(),
    });
  };
  starting.defer(() => connections.stop());
  nodes = createNodes({
    id: nodeId,
    name: config.HERALD_NODE_NAME,
    url: () => server?.url ?? "",
    adminUrl: () => internalUrl,
    activity: () => ({ ...connections.activity(), figures: nodeFigures() }),
    registry: database.nodes,
    clock,
    onClock: clockWatch.note,
  });
  const sends = createSends({ ...parts, presence, onError });
  const logRequest = createRequestLog(log);
  const onAnswer = (call: Call) => {
    drain.note();
    counting.onAnswer(call);
    logRequest(call);
  };
  const isOneTooMany = createCrowds({ ...connections, config, clientAddress });
  const held = createHeldAnswers({ clientAddress, isOneTooMany, thread });
  const followed = { redact, onAnswer, hold: held.hold, ...drain, clientAddress, thread, refusals, onError };
  const follow = followCalls({ ...followed, traceCall: tracing?.traceCall });
  const health = createHealth({
    isStopping: drain.isDraining,
    checkStore: () => checkStore(database.reader, onError),
    storeProblem: writeWatch.problem,
    oldestSend: store.sends.oldestPending,
    clock: steadyClock,
    busState: bus.state,
    eventLoopDelays: figures.eventLoopDelays,
  });
  starting.defer(health.stop);
  const app = createApp({
    clientAddress,
    ...services,
    ...keyring,
    audit,
    nodes,
    presence,
    organizations: createOrganizationDirectory({ ...store, limits: organizationLimits, presence, clock }),
    use,
    thread,
    ...sends,
    ...files,
    feeds: connections.feeds,
    downloads: connections.downloads,
    rateLimit,
    health,
    metrics: {
      type: metricsType,
      token: config.HERALD_METRICS_TOKEN,
      print: createScrape(async () => (await gatherMetrics?.()) ?? [metrics()], steadyClock),
    },
    backlog: connections.backlog,
    pages: createConsolePages({ hasDemo: config.HERALD_DEMO, basePath }),
    basePath,
    limits: { ...httpLimitsOf(config), idleSeconds: config.HERALD_LIMIT_IDLE_SECONDS },
    follow,
    redact,
    onError,
  });

  const { batches } = sends;
  const { imports, exports } = services;
  const handling = { config, tls, worker, follow, connections, handle: app.handle, onError };
  const { listening, adminUrl, endRequests } = openServer({
    ...handling,
    stopped: [batches, imports, exports, waits],
    log,
  });
  server = listening;
  if (adminUrl !== listening.url) internalUrl = adminUrl;
  starting.defer(endRequests);
  await nodes.beat();
  const sayAlive = nodes.beat;
  const beat = tellOutages(async () => {
    await Promise.all([sayAlive().then(waits.lookAtNodes), followSecrets()]);
  }, outages);
  const beatTimer = setInterval(() => void beat(), nodeBeatMs);
  starting.defer(() => clearInterval(beatTimer));
  const retention = startRetention({
    ...store,
    keep: keepOf(config),
    neededFrom: outbox?.idsNeededFrom,
    holder: nodeId,
    clock,
    elapsed: steadyClock,
    log,
    outages,
  });
  starting.defer(() => atMost(leaveMayTakeMs, retention.stop()));
  services.scheduler.start({ audit, outages, onError });
  starting.defer(() => atMost(requestsMayTakeMs, services.scheduler.stop()));
  services.poster.start({
    outages,
    onError,
    onDisabled: ({ org, id }) => log.warn({ org, webhook: id }, "switched off a webhook, as its receiver answered 410"),
  });
  starting.defer(() => atMost(requestsMayTakeMs, services.poster.stop()));
  const stopFiles = startFiles(outages);
  starting.defer(() => atMost(leaveMayTakeMs, stopFiles()));
  outbox?.start();
  starting.defer(() => atMost(requestsMayTakeMs, outbox?.stop()));
  if (tlsFiles !== undefined && tls !== undefined)
    starting.defer(followTls({ files: tlsFiles, current: tls, server: listening, clock, log }));
  starting.defer(counting.watchEventLoop()); // not before: the work of a start delays nobody
  const { url } = listening;
  if (worker === undefined) warnOfPlainHttp(config, log);
  if (!state.hasBus)
    log.warn("not connected to the bus yet; until then, messages from other nodes arrive with a delay");
  log.info(
    { url, admin_url: internalUrl, base_path: basePath || undefined, node: nodeId },
    worker === undefined ? "listening" : "worker listening",
  );
  log.flush(); // the caller may have something to print after it

  const engines = starting.move();
  return {
    url,
    adminUrl,
    adminKey,
    demo,
    metrics,
    routes: [...app.routes, ...Object.values(realTimeRoutes).map(({ path }) => `ALL ${path}`)],
    async stop() {
      if (drain.isDraining()) return;
      log.info("stopping");
      // In reverse order: no new calls, pending ones answered, connections closed, store, bus.
      const drained = drain.begin().then(() => engines.disposeAsync());
      await inTime(drained, stopMayTakeMs, stopExplanation);
      log.info("stopped");
    },
  };
}

/** Resolves once the work is done, or after `ms`, as a stop cannot wait for longer. */
async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  await Promise.race([work, Bun.sleep(ms)]);
}
