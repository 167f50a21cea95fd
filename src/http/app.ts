import { Hono } from "hono";
import { HeraldError, toHeraldError } from "../contract/errors.ts";
import type { PayloadLimits } from "../contract/limits.ts";
import { createOperations } from "../contract/operations/all.ts";
import { problemResponse } from "../contract/problem.ts";
import type { ConversationDirectory } from "../services/conversations.ts";
import type { Directory } from "../services/directory.ts";
import type { HistoryReader } from "../services/history.ts";
import type { Keys } from "../services/keys.ts";
import type { Messages } from "../services/messages.ts";
import type { SystemMessages } from "../services/system-messages.ts";
import { createBind, requestIdOf } from "./bind.ts";
import type { RateLimit } from "./limits.ts";
import { bindConversations } from "./routes/conversations.ts";
import { bindDirectory } from "./routes/directory.ts";
import { bindMessages } from "./routes/messages.ts";
import { bindOpen, type Readiness } from "./routes/open.ts";

type Dependencies = {
  keys: Keys;
  rateLimit: RateLimit;
  messages: Messages;
  systemMessages: SystemMessages;
  directory: Directory;
  conversations: ConversationDirectory;
  history: HistoryReader;
  readiness: Readiness;
  limits: PayloadLimits & { requestBytes: number };
  onError(error: unknown, requestId: string): void;
};

/** The HTTP side: takes a request to the service that does it, and the outcome back as an answer. Never rejects. */
export function createApp(dependencies: Dependencies): (request: Request) => Promise<Response> {
  const { keys, rateLimit, limits, onError } = dependencies;
  const app = new Hono();
  const operations = createOperations(limits);
  const bind = createBind({ app, keys, rateLimit, limits, onError });
  bindMessages(bind, operations, dependencies);
  bindDirectory(bind, operations, dependencies.directory);
  bindConversations(bind, operations, dependencies);
  bindOpen(app, bind, operations, limits, dependencies.readiness);
  refuseOtherMethods(app);
  app.notFound(({ req }) => problemResponse(new HeraldError("not_found"), requestIdOf(req.raw)));
  app.onError((thrown, { req }) => {
    const requestId = requestIdOf(req.raw);
    onError(thrown, requestId);
    return problemResponse(toHeraldError(thrown), requestId);
  });

  return async (request) => {
    const fault = faultOf(request.url);
    if (fault !== undefined) return problemResponse(new HeraldError("bad_request", fault), requestIdOf(request));
    return await app.fetch(request);
  };
}

/** Every known path answers 405 to the methods that it does not know. */
function refuseOtherMethods(app: Hono): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) methods.set(path, (methods.get(path) ?? new Set()).add(method));
  for (const [path, known] of methods) {
    if (known.has("GET")) known.add("HEAD");
    const headers = { Allow: [...known].sort().join(", ") };
    app.all(path, ({ req }) =>
      problemResponse(new HeraldError("method_not_allowed", undefined, { headers }), requestIdOf(req.raw)),
    );
  }
}

/** What is wrong with an address, if anything: HTTP/1.0 without `Host`, or percent-encoding that is not UTF-8. */
function faultOf(url: string): string | undefined {
  if (!/^https?:\/\//.test(url)) return "send HTTP/1.1 with a `Host` header";
  if (!url.includes("%")) return undefined;
  try {
    decodeURIComponent(url.split("?")[0] ?? "");
    return undefined;
  } catch {
    return "the path is not valid percent-encoded UTF-8 (RFC 3986, section 2.5)";
  }
}
