import { dirname, resolve } from "node:path";
import { type Config, httpLimitsOf } from "../config.ts";
import { exampleKeyFile } from "../contract/documents/place.ts";
import type { MetricFamily } from "../contract/metrics.ts";
import { createHeldAnswers } from "../http/answers/held-answers.ts";
import { createPlaces } from "../http/answers/places.ts";
import { createApp } from "../http/app.ts";
import { type FollowCall, followCalls } from "../http/calls.ts";
import { networkOf } from "../lib/network/addresses.ts";
import type { Peers } from "../lib/network/client-address.ts";
import { createKeptAlive } from "../lib/network/kept-alive.ts";
import type { Audit } from "../services/audit.ts";
import type { Keyring } from "../services/keys/keyring.ts";
import type { Nodes } from "../services/nodes/nodes.ts";
import type { People } from "../services/people/people.ts";
import type { PersonSessions } from "../services/people/person-sessions.ts";
import type { NodeBus } from "./bus.ts";
import { createConsolePages } from "./console/pages.ts";
import type { Context } from "./context.ts";
import { createDrain, type Drain } from "./drain.ts";
import type { NodeFiles } from "./files.ts";
import type { Gateway } from "./gateway.ts";
import { createGuides } from "./guides/guides.ts";
import type { Limits } from "./limits.ts";
import { startHealth } from "./observing/health.ts";
import { createScrape, metricsType } from "./observing/metrics.ts";
import type { Tracing } from "./observing/tracing.ts";
import type { Services } from "./services.ts";
import { openServer } from "./serving.ts";
import type { Stored } from "./store.ts";
import type { OpenTls } from "./tls.ts";

const closedLateMs = 5_000; // Bun checks idle connections every four seconds

type Parts = Stored &
  Limits &
  Services &
  NodeFiles &
  Keyring &
  Pick<NodeBus, "bus"> & {
    audit: Audit;
    people: People | undefined;
    personSessions: PersonSessions;
    gateway: Gateway;
    nodes: Nodes;
    tls: OpenTls | undefined;
    tracing: Tracing | undefined;
    /** The metrics of all workers. */
    gatherMetrics(): Promise<MetricFamily[][]>;
  };

/** Opens the HTTP API and the ports, and answers calls from then on. */
export function openHttp(context: Context, parts: Parts) {
  const { config, steadyClock, later, onStop } = context;
  const { gateway, batches, imports, exports, waits } = parts;
  const drain = createDrain(steadyClock, parts.observer.lastAnswerAt);
  const follow = createFollow(context, parts, drain);
  const app = createApp({
    ...context,
    ...parts,
    feeds: gateway.feeds,
    downloads: gateway.downloads,
    origins: gateway.origins,
    backlog: gateway.backlog,
    health: startHealth(context, { ...parts, drain }),
    metrics: {
      type: metricsType,
      token: config.HERALD_METRICS_TOKEN,
      print: createScrape(parts.gatherMetrics, steadyClock),
    },
    pages: createConsolePages({
      hasDemo: config.HERALD_DEMO,
      basePath: config.HERALD_BASE_PATH,
      issuer: config.HERALD_ADMIN_OIDC_ISSUER,
    }),
    guides: createGuides({ basePath: config.HERALD_BASE_PATH }),
    placeOf: createPlaces({
      ...context,
      basePath: config.HERALD_BASE_PATH,
      hasDefaultKeyFile: hasDefaultKeyFile(config),
    }),
    basePath: config.HERALD_BASE_PATH,
    limits: { ...httpLimitsOf(config), idleSeconds: config.HERALD_LIMIT_IDLE_SECONDS },
    follow,
  });
  const { server, endRequests } = openServer(context, {
    tls: parts.tls?.current,
    follow,
    gateway,
    handlerAt: app.handlerAt,
    stopped: [batches, imports, exports, waits],
  });
  later.server = server;
  onStop(endRequests);
  return { server, routes: app.routes, drain };
}

/** Whether the admin API key is in the file that the documentation reads it from. */
function hasDefaultKeyFile({ HERALD_ADMIN_API_KEY: key, HERALD_DATA_DIR: folder }: Config): boolean {
  return key === undefined && resolve(folder) === dirname(resolve(exampleKeyFile));
}

/** Creates what counts, logs, traces and refuses calls, on whichever path they come. */
function createFollow(context: Context, { observer, gateway, refusals, tracing }: Parts, drain: Drain): FollowCall {
  const { hold } = createHeldAnswers({ ...context, isOneTooMany: createAddressLimit(context, gateway) });
  return followCalls({
    ...context,
    ...observer,
    drain,
    refusals,
    hold,
    traceCall: tracing?.traceCall,
  });
}

/**
 * Creates the function that checks whether a request's address keeps more connections alive than allowed, sockets and streams
 * included.
 */
function createAddressLimit({ config, clientAddress, steadyClock }: Context, { countOfAddress }: Gateway) {
  const mostOfAddress = config.HERALD_LIMIT_CONNECTIONS_PER_ADDRESS;
  const keptMs = config.HERALD_LIMIT_IDLE_SECONDS * 1000 + closedLateMs;
  const keptAlive = createKeptAlive({ keptMs, clock: steadyClock });
  return (request: Request, peers: Peers): boolean => {
    if (mostOfAddress === Number.POSITIVE_INFINITY) return false;
    const address = networkOf(clientAddress(request, peers));
    const port = peers.requestIP(request)?.port ?? 0;
    return keptAlive.isOneTooMany(address, port, mostOfAddress - countOfAddress(address));
  };
}
