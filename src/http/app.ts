import { Hono, type HonoRequest } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { getPath } from "hono/utils/url";
import { HeraldError, toHeraldError } from "../contract/errors/errors.ts";
import { problemResponse } from "../contract/errors/problem.ts";
import { createOperations, type Operations } from "../contract/operations/all.ts";
import { pathBelow } from "../lib/network/base-path.ts";
import { type AnswerBacklog, createLongAnswers } from "./answers/long-answers.ts";
import { createPackedTexts } from "./answers/packed-texts.ts";
import { type Bind, createBind } from "./bind.ts";
import type { Router } from "./call/exchange.ts";
import type { Call, FollowCall, Listener, Runtime } from "./calls.ts";
import { bindConsole } from "./routes/console.ts";
import { bindConversations } from "./routes/conversations.ts";
import { bindDelivery } from "./routes/delivery.ts";
import { bindDirectory } from "./routes/directory.ts";
import { createDocuments } from "./routes/documents.ts";
import { bindDownloads, bindFiles } from "./routes/files.ts";
import { bindGuides } from "./routes/guides.ts";
import { bindKeys } from "./routes/keys.ts";
import { bindMcp } from "./routes/mcp.ts";
import { bindMessages } from "./routes/messages.ts";
import { bindMetrics } from "./routes/metrics.ts";
import { bindOpen } from "./routes/open.ts";
import { createPages } from "./routes/pages.ts";
import { bindPresence } from "./routes/presence.ts";
import { bindProposals } from "./routes/proposals.ts";
import { bindSchedule } from "./routes/schedule.ts";
import { bindSessions } from "./routes/sessions.ts";
import { bindSignIn } from "./routes/sign-in.ts";
import { bindTransfer } from "./routes/transfer.ts";
import { bindWebhooks } from "./routes/webhooks.ts";

/** What binds the operations of each feature. */
const features = [
  bindMessages,
  bindSchedule,
  bindProposals,
  bindWebhooks,
  bindDirectory,
  bindConversations,
  bindDelivery,
  bindPresence,
  bindTransfer,
  bindFiles,
  bindKeys,
  bindSessions,
  bindMetrics,
];

/** All that the features need of the services. */
type FeatureServices = (typeof features)[number] extends (
  bind: Bind,
  operations: Operations,
  services: infer Services,
) => void
  ? Services
  : never;

type Dependencies = Omit<Parameters<typeof createBind>[0], "app" | "longAnswers"> &
  FeatureServices &
  Parameters<typeof bindDownloads>[2] &
  Omit<Parameters<typeof bindOpen>[3], "documents" | "answerPage" | "packed"> &
  Parameters<typeof bindMcp>[2] &
  Omit<Parameters<typeof bindGuides>[1], "answerPage" | "packed"> &
  Parameters<typeof bindConsole>[1] &
  Parameters<typeof bindSignIn>[1] & { backlog: AnswerBacklog; follow: FollowCall };

/** The HTTP API. */
export type App = {
  /** Creates what routes the requests that come in there to their services. It never rejects. */
  handlerAt(listener: Listener): (request: Request, from: Runtime) => Promise<Response>;
  /** All routes, as `GET /admin/organizations/:org`. */
  routes: string[];
};

/** What the public address serves besides sockets and streams, if the rest has an internal one. */
const publicPaths = /^\/(healthz$|files\/)/;
const badPath = "the path is not valid percent-encoded UTF-8 (RFC 3986, section 2.5)";

/** Binds every operation of the contract, and the open pages. */
export function createApp(dependencies: Dependencies): App {
  const { limits, basePath, follow, redact, onError } = dependencies;
  const app: Router = new Hono({
    router: new RegExpRouter(), // throws on a path that it cannot compile, where the default would take a slower one
    ...(basePath !== "" && { getPath: (request) => pathBelow(basePath, getPath(request)) }),
  });
  const operations = createOperations(limits);
  const longAnswers = createLongAnswers({ backlog: dependencies.backlog, onError: (error) => onError(error, "") });
  const bind = createBind({ ...dependencies, app, longAnswers });
  for (const bindFeature of features) bindFeature(bind, operations, dependencies);
  const { documents, markdownPages } = createDocuments({ limits, basePath }, () => dependencies.guides.all());
  const packed = createPackedTexts();
  const answerPage = createPages({ documents, markdownPages, placeOf: dependencies.placeOf, packed });
  bindDownloads(app, operations, dependencies);
  bindOpen(app, bind, operations, { ...dependencies, documents, answerPage, packed });
  bindGuides(app, { ...dependencies, answerPage, packed });
  bindConsole(app, dependencies);
  bindSignIn(app, dependencies);
  bindMcp(bind, handlerAt, dependencies);
  app.notFound(({ req, env: call }) => {
    const error = errorOfUnmatched(app, req);
    call.code = error.code;
    return problemResponse(error, call.requestId);
  });
  app.onError((thrown, { env: call }) => {
    const error = toHeraldError(thrown);
    if (error.status === 500) onError(thrown, call.requestId);
    call.code = error.code;
    return problemResponse(error, call.requestId, redact);
  });

  function answer(request: Request, call: Call): Response | Promise<Response> {
    if (!isDecodable(request.url)) throw new HeraldError("bad_request", badPath);
    if (call.listener === "public" && !publicPaths.test(pathBelow(basePath, new URL(request.url).pathname)))
      throw new HeraldError("not_found");
    return app.fetch(request, call);
  }

  function handlerAt(listener: Listener) {
    return (request: Request, from: Runtime) => follow(request, { from, listener }, answer);
  }

  return {
    handlerAt,
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
