import { answerPreflight, type Origins } from "../gateway/connections/origins.ts";
import type { App } from "../http/app.ts";
import { type FollowCall, realTimeRoutes } from "../http/calls.ts";
import { nextTurn } from "../lib/event-loop/next-turn.ts";
import { createId } from "../lib/text/ids.ts";
import type { Tls } from "../lib/tls/tls-files.ts";
import type { Context } from "./context.ts";
import type { Gateway } from "./gateway.ts";
import { type Handle, type Handlers, listen } from "./listen.ts";

type Dependencies = {
  tls: Tls | undefined;
  follow: FollowCall;
  gateway: Gateway;
  handlerAt: App["handlerAt"];
  /** The services that end their own long requests when the node stops. */
  stopped: readonly { stop(): void }[];
};

const requestsMayTakeMs = 5_000;
const lookAgainMs = 10;
const problemStart = '{"type":"';

/**
 * Listens for requests and connections. `endRequests` accepts no more, and resolves once pending requests are answered, or after
 * five seconds. Throws `ListenError`; then nothing listens.
 */
export function openServer(context: Context, { tls, follow, gateway, handlerAt, stopped }: Dependencies) {
  const { config, worker, log, onError } = context;
  const { HERALD_BASE_PATH: basePath } = config;
  const handlers: Handlers = {
    upgrade: (request, running) =>
      follow(
        request,
        { from: running, route: realTimeRoutes.webSocket, requestId: createId() },
        async (_, { requestId }) => await gateway.webSockets.upgrade(request, running, requestId),
      ),
    stream: (request, running) =>
      follow(request, { from: running, route: realTimeRoutes.stream }, async (_, call) => {
        const response = await gateway.streams.handle(request, running);
        call.requestId = response.headers.get("X-Request-Id") ?? call.requestId; // that of the connection
        return response;
      }),
    file: (listener) => shareFiles(handlerAt(listener), gateway.origins),
    other: handlerAt,
    websocket: gateway.webSockets.handlers,
    onError,
  };
  const server = listen({ config, tls, reusePort: worker !== undefined }, linkProblems(handlers, basePath));
  return { server, endRequests };

  async function endRequests(): Promise<void> {
    await nextTurn(); // reads what has arrived, as the following resets connections with unread requests
    // Closes idle connections, too. Not awaited, as the result would wait for open connections and incomplete requests.
    void server.stop();
    for (const part of stopped) part.stop();
    const end = performance.now() + requestsMayTakeMs;
    const unanswered = () => server.pendingRequests - gateway.count("sse") - gateway.count("feed");
    while (unanswered() > 0 && performance.now() < end) await Bun.sleep(lookAgainMs);
    if (unanswered() > 0) log.warn({ requests: unanswered() }, "aborting requests that took too long");
  }
}

/** Lets pages of allowed origins read files with `fetch`, as they read streams. Any page may show those it has an address of. */
function shareFiles(handle: ReturnType<App["handlerAt"]>, { corsHeaders }: Pick<Origins, "corsHeaders">): Handle {
  return async (request, running) => {
    const cors = corsHeaders(request);
    const preflight = answerPreflight(request, cors);
    if (preflight !== undefined) return preflight;
    const response = await handle(request, running);
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
    return response;
  };
}

/** Makes the errors of a server that is reached below `basePath` link to the documentation there. */
function linkProblems(handlers: Handlers, basePath: string): Handlers {
  if (basePath === "") return handlers;
  const linked =
    (handle: Handle): Handle =>
    async (request, running) =>
      await linkProblem(await handle(request, running), basePath);
  return {
    ...handlers,
    upgrade: linked(handlers.upgrade),
    stream: linked(handlers.stream),
    file: (listener) => linked(handlers.file(listener)),
    other: (listener) => linked(handlers.other(listener)),
  };
}

async function linkProblem(answer: Response | undefined, basePath: string): Promise<Response | undefined> {
  if (answer?.headers.get("Content-Type") !== "application/problem+json") return answer;
  const { status, headers } = answer;
  const length = headers.get("Content-Length"); // which HEAD has without a body
  if (length !== null) headers.set("Content-Length", String(Number(length) + basePath.length));
  const text = await answer.text();
  return new Response(text === "" ? null : text.replace(problemStart, problemStart + basePath), { status, headers });
}
