import { type Config, keepOf } from "./config.ts";
import type { MetricFamily } from "./contract/metrics.ts";
import { realTimeRoutes } from "./http/calls.ts";
import type { Secret } from "./lib/secret-file.ts";
import { inTime } from "./lib/time/in-time.ts";
import { openBus } from "./server/bus.ts";
import { openContext, type WorkerPlace } from "./server/context.ts";
import { createNodeFiles } from "./server/files.ts";
import { openGateway } from "./server/gateway.ts";
import { openHttp } from "./server/http.ts";
import { startJobs } from "./server/jobs.ts";
import { openKeys } from "./server/keys.ts";
import { startLimits } from "./server/limits.ts";
import { startMeasuring } from "./server/observing/measuring.ts";
import { createNodeOutbox } from "./server/outbox.ts";
import { openPeople } from "./server/people.ts";
import { warnOfPlainHttp } from "./server/plain-http.ts";
import { secretsOf } from "./server/secrets.ts";
import { createServices } from "./server/services.ts";
import { openStore } from "./server/store.ts";
import { openTls } from "./server/tls.ts";
import { openTracing } from "./server/tracing.ts";
import { createAudit } from "./services/audit.ts";
import { type Demo, ensureDemo } from "./services/directory/demo.ts";
import { createNodes } from "./services/nodes/nodes.ts";

const auditSettleMs = 2_000; // far more than the clocks of nodes differ and a commit takes
const stopMayTakeMs = 12_000; // more than requests, plays and closes take, and less than the store allows a database that hangs
const stopExplanation = `did not finish all work within ${stopMayTakeMs / 1000} s; everything that was acknowledged is stored`;
const auditMayTakeMs = 2_000;

/** A running node. */
export type Herald = {
  url: string;
  /** The internal address, which serves the admin API and the console; `url` unless there is one. */
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

/** The options of a worker, which shares its port: its place, and how to get the metrics of all workers. */
type WorkerOptions = WorkerPlace & { gatherMetrics?: () => Promise<MetricFamily[][]> };

/**
 * Starts a node: the store, the services, then the port. If any of it fails, rejects and leaves nothing open. A worker
 * shares its port with the others, and its number is in its log lines.
 */
export async function startHerald(
  config: Config,
  { worker, host, gatherMetrics }: WorkerOptions = {},
): Promise<Herald> {
  await using starting = new AsyncDisposableStack();
  // Features start in this order and stop in the reverse one. Those that come earlier call later ones through `later`.
  const context = openContext(config, { worker, host }, starting);
  const { log, later, onStop } = context;
  const tls = openTls(config);
  const bus = openBus(context);
  const tracing = await openTracing(context);
  const stored = await openStore(context, bus, tracing);
  const { store, database } = stored;
  const secrets = secretsOf(config, context);
  const limits = startLimits(context, store);
  const base = { ...secrets, ...bus, ...stored, ...limits, tls, tracing };
  const audit = createAudit({
    ...context,
    ...store,
    elapsed: context.steadyClock,
    keepDays: keepOf(config).audit,
    settleMs: config.HERALD_DATABASE_URL === undefined ? 0 : auditSettleMs,
  });
  const services = createServices(context, { ...base, audit });
  const files = createNodeFiles(context, { ...base, ...services });
  const keys = await openKeys(context, base);
  const people = await openPeople(context, base);
  onStop(audit.stop, auditMayTakeMs);
  const demo = config.HERALD_DEMO ? await ensureDemo(services.directory, services.conversations) : undefined;
  const gateway = openGateway(context, { ...base, ...services, ...files });
  const outbox = createNodeOutbox(context, store, limits);
  const parts = { ...base, ...services, ...files, ...keys, ...people, audit, gateway, outbox };
  const isStopping = () => later.isStopping === true;
  const { metrics, nodeActivity, onClock } = startMeasuring(context, { ...parts, isStopping });
  const nodes = createNodes({
    id: context.nodeId,
    name: config.HERALD_NODE_NAME,
    url: () => later.server?.url ?? "",
    adminUrl: () => later.server?.internalUrl,
    activity: () => ({ ...gateway.activity(), ...nodeActivity() }),
    registry: database.nodes,
    clock: context.clock,
    onClock,
  });
  later.nodes = nodes;
  const gather = async () => (await gatherMetrics?.()) ?? [metrics()];
  const { server, routes, drain } = openHttp(context, { ...parts, nodes, gatherMetrics: gather });
  await startJobs(context, { ...parts, nodes, server });

  if (worker === undefined) warnOfPlainHttp(config, log);
  if (bus.isConnecting())
    log.warn("not connected to the bus yet; until then, messages from other nodes arrive with a delay");
  const { url, internalUrl } = server;
  log.info(
    { url, admin_url: internalUrl, base_path: config.HERALD_BASE_PATH || undefined, node: context.nodeId },
    worker === undefined ? "listening" : "worker listening",
  );
  log.flush(); // the caller may have something to print after it

  const engines = starting.move();
  return {
    url,
    adminUrl: internalUrl ?? url,
    adminKey: secrets.adminKey,
    demo,
    metrics,
    routes: [...routes, ...Object.values(realTimeRoutes).map(({ path }) => `ALL ${path}`)],
    async stop() {
      if (drain.isDraining) return;
      log.info("stopping");
      later.isStopping = true;
      void nodes.beat().catch(() => undefined); // tells the other nodes, which else see it fall silent
      // In reverse order: no new calls, pending ones answered, connections closed, store, bus.
      const drained = drain.begin().then(() => engines.disposeAsync());
      await inTime(drained, stopMayTakeMs, stopExplanation);
      log.info("stopped");
    },
  };
}
