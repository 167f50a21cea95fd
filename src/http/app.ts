import { Hono, type HonoRequest } from "hono";
import { getPath } from "hono/utils/url";
import { HeraldError, toHeraldError } from "../contract/errors/errors.ts";
import { problemResponse } from "../contract/errors/problem.ts";
import type { PayloadLimits } from "../contract/limits.ts";
import { createOperations } from "../contract/operations/all.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { pathBelow } from "../lib/network/base-path.ts";
import type { ClientAddress } from "../lib/network/client-address.ts";
import type { Audit } from "../services/audit.ts";
import type { DeliveryReports } from "../services/delivery/delivery-reports.ts";
import type { Recipients } from "../services/delivery/recipients.ts";
import type { ConversationDirectory } from "../services/directory/conversations.ts";
import type { Directory } from "../services/directory/directory.ts";
import type { Erasures } from "../services/directory/erasure.ts";
import type { OrganizationDirectory } from "../services/directory/organizations.ts";
import type { Feeds } from "../services/feeds.ts";
import type { Downloads } from "../services/files/downloads.ts";
import type { FileAddresses } from "../services/files/file-addresses.ts";
import type { Files } from "../services/files/files.ts";
import type { Authentication } from "../services/keys/authentication.ts";
import type { Keys } from "../services/keys/keys.ts";
import type { RateLimit } from "../services/limits/key-rates.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import type { Batches } from "../services/messages/batches.ts";
import type { Changes } from "../services/messages/changes.ts";
import type { DryRuns } from "../services/messages/dry-runs.ts";
import type { HistoryReader } from "../services/messages/history.ts";
import type { Messages } from "../services/messages/messages.ts";
import type { Reads } from "../services/messages/reads.ts";
import type { SystemMessages } from "../services/messages/system-messages.ts";
import type { Nodes } from "../services/nodes/nodes.ts";
import type { Presence } from "../services/presence.ts";
import type { Schedule } from "../services/schedule/schedule.ts";
import type { Exports } from "../services/transfer/exports.ts";
import type { Imports } from "../services/transfer/imports.ts";
import type { Webhooks } from "../services/webhooks/webhooks.ts";
import { type AnswerBacklog, createLongAnswers } from "./answers/long-answers.ts";
import { createBind } from "./bind.ts";
import type { Router } from "./call/exchange.ts";
import type { Call, FollowCall, Listener, Runtime } from "./calls.ts";
import { bindBatches } from "./routes/batches.ts";
import { bindConsole, type Pages } from "./routes/console.ts";
import { bindConversations } from "./routes/conversations.ts";
import { bindDelivery } from "./routes/delivery.ts";
import { bindDirectory } from "./routes/directory.ts";
import { bindFeed } from "./routes/feed.ts";
import { bindDownloads, bindFiles } from "./routes/files.ts";
import { bindKeys } from "./routes/keys.ts";
import { bindMessageChanges } from "./routes/message-changes.ts";
import { bindMessages } from "./routes/messages.ts";
import { bindMetrics, type Metrics } from "./routes/metrics.ts";
import { bindOpen, type HealthChecks } from "./routes/open.ts";
import { bindPresence } from "./routes/presence.ts";
import { bindSchedule } from "./routes/schedule.ts";
import { bindTransfer } from "./routes/transfer.ts";
import { bindWebhooks } from "./routes/webhooks.ts";

type Dependencies = {
  authentication: Authentication;
  keys: Keys;
  rateLimit: RateLimit;
  audit: Audit;
  clientAddress: ClientAddress;
  messages: Messages;
  changes: Changes;
  systemMessages: SystemMessages;
  reads: Reads;
  batches: Batches;
  directory: Directory;
  erasures: Erasures;
  organizations: OrganizationDirectory;
  use: OrganizationUse;
  thread: ThreadScheduler;
  conversations: ConversationDirectory;
  history: HistoryReader;
  deliveryReports: DeliveryReports;
  recipients: Recipients;
  dryRuns: DryRuns;
  schedule: Schedule;
  hooks: Webhooks;
  presence: Presence;
  nodes: Pick<Nodes, "list">;
  health: HealthChecks;
  metrics: Metrics;
  feeds: Feeds;
  files: Files;
  fileAddresses: FileAddresses;
  downloads: Downloads;
  imports: Imports;
  exports: Exports;
  pages: Pages;
  backlog: AnswerBacklog;
  limits: PayloadLimits & { requestBytes: number; idleSeconds: number };
  /** The path below which the server is reached; empty if it has a host of its own. */
  basePath: string;
  follow: FollowCall;
  redact(text: string): string;
  onError(error: unknown, requestId: string): void;
};

/** The HTTP API. */
export type App = {
  /** Routes a request to its service and returns the response. Never rejects. */
  handle(request: Request, from: Runtime, listener: Listener): Promise<Response>;
  /** All routes, as `GET /admin/organizations/:org`. */
  routes: string[];
};

/** What the public address serves besides sockets and streams, if the rest has an internal one. */
const publicPaths = /^\/(healthz$|files\/)/;
const badPath = "the path is not valid percent-encoded UTF-8 (RFC 3986, section 2.5)";

/** Binds every operation of the contract, and the open pages. */
export function createApp(dependencies: Dependencies): App {
  const { audit, limits, basePath, follow, onError } = dependencies;
  const app: Router = new Hono(basePath === "" ? {} : { getPath: (request) => pathBelow(basePath, getPath(request)) });
  const operations = createOperations(limits);
  const longAnswers = createLongAnswers({ backlog: dependencies.backlog, onError: (error) => onError(error, "") });
  const bind = createBind({ ...dependencies, app, longAnswers });
  bindMessages(bind, operations, dependencies);
  bindMessageChanges(bind, operations, dependencies);
  bindBatches(bind, operations, dependencies);
  bindSchedule(bind, operations, dependencies);
  bindWebhooks(bind, operations, dependencies);
  bindDirectory(bind, operations, dependencies);
  bindConversations(bind, operations, dependencies);
  bindDelivery(bind, operations, dependencies);
  bindPresence(bind, operations, dependencies);
  bindFeed(bind, operations, dependencies.feeds);
  bindTransfer(bind, operations, dependencies);
  bindFiles(bind, operations, dependencies);
  bindDownloads(app, operations, dependencies);
  bindKeys(bind, operations, dependencies.keys);
  bind(operations.listAudit, async ({ caller, query }) => ({ status: 200, body: await audit.list(caller, query) }));
  bindMetrics(bind, operations, dependencies.metrics);
  bindOpen(app, bind, operations, { limits, basePath, ...dependencies.health });
  bindConsole(app, dependencies.pages);
  app.notFound(({ req, env: call }) => {
    const error = errorOfUnmatched(app, req);
    call.code = error.code;
    return problemResponse(error, call.requestId);
  });
  app.onError((thrown, { env: call }) => {
    onError(thrown, call.requestId);
    return problemResponse(toHeraldError(thrown), call.requestId);
  });

  function answer(request: Request, call: Call): Response | Promise<Response> {
    if (!isDecodable(request.url)) throw new HeraldError("bad_request", badPath);
    if (call.listener === "public" && !publicPaths.test(pathBelow(basePath, new URL(request.url).pathname)))
      throw new HeraldError("not_found");
    return app.fetch(request, call);
  }

  return {
    handle: (request, from, listener) => follow(request, { from, listener }, answer),
    routes: app.routes.map(({ method, path }) => `${method} ${path}`),
  };
}

/**
 * The error when no route matched: 405 if the path has other methods, otherwise 404. Determined only now, as a second
 * handler on every path would send every request through Hono's middleware chain.
 */
function errorOfUnmatched(app: Router, request: HonoRequest): HeraldError {
  const methods = new Set(app.routes.map(({ method }) => method));
  const known = [...methods].filter((method) => app.router.match(method, request.path)[0].length > 0);
  if (known.length === 0) return new HeraldError("not_found");
  if (known.includes("GET")) known.push("HEAD");
  const headers = { Allow: known.sort().join(", ") };
  return new HeraldError("method_not_allowed", undefined, { headers });
}

/** Whether the percent-encoding of a URL's path is UTF-8. */
function isDecodable(url: string): boolean {
  if (!url.includes("%")) return true;
  try {
    decodeURIComponent(url.split("?")[0] ?? "");
    return true;
  } catch {
    return false;
  }
}
