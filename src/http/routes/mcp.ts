import type { PayloadLimits } from "../../contract/limits.ts";
import type { ToolCall } from "../../contract/mcp/calls.ts";
import { mcpOperation } from "../../contract/mcp/operation.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import { isToken } from "../../services/people/workload-tokens.ts";
import type { Bind } from "../bind.ts";
import type { LongCall } from "../call/long-call.ts";
import type { Listener, Runtime } from "../calls.ts";
import { createMcpThread } from "../mcp/mcp-thread.ts";

type Services = {
  limits: PayloadLimits;
  /** The path below which the server is reached. */
  basePath: string;
  /** Refuses pages of origins that are not allowed by name. */
  origins: { requireAllowed(request: Request): void };
};

/** What answers a request as if it had just arrived there. */
type HandlerAt = (listener: Listener) => (request: Request, from: Runtime) => Promise<Response>;

/** The headers of a request that go on to the requests that its tools make: who calls, from where, for which trace. */
const handedOn = ["host", "x-forwarded-for", "forwarded", "traceparent", "tracestate", "user-agent"];

/**
 * Binds `POST /mcp`. A tool is a request of its own, which takes the same path as if the caller had sent it, with the same key and
 * from the same address: there is no other way in.
 */
export function bindMcp(bind: Bind, handlerAt: HandlerAt, { limits, basePath, origins }: Services): void {
  const speak = createMcpThread({ limits });
  bind(mcpOperation, async ({ caller, headers, body }, callOf) => {
    const call = callOf();
    origins.requireAllowed(call.request);
    const { scopes, org } = caller.rights;
    const makeCall = createMakeCall(handlerAt(call.listener), call, basePath);
    const { status, contentType, text } = await speak(
      { headers: [...headers].filter(isOfProtocol), body, reach: { scopes, org } },
      makeCall,
    );
    return text === "" ? { status } : { status, body: text, contentType: contentType ?? "application/json" };
  });
}

/** The key stays here. */
function isOfProtocol([name]: [string, string]): boolean {
  return name === "accept" || name === "content-type" || name.startsWith("mcp-");
}

/** Creates what makes the requests of tools for a call. */
function createMakeCall(handle: ReturnType<HandlerAt>, { request, from, requestId }: LongCall, basePath: string) {
  const { origin } = new URL(request.url);
  const credential = request.headers.get("admin-api-key") ?? bearerToken(request.headers) ?? "";
  const headers = new Headers({ "X-Request-Id": requestId });
  if (isToken(credential)) headers.set("Authorization", `Bearer ${credential}`);
  else headers.set("Admin-Api-Key", credential);
  for (const name of handedOn) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const peers: Runtime = { requestIP: () => from.requestIP(request), timeout: () => undefined };

  return async ({ method, target, body }: ToolCall): Promise<ToolAnswer> => {
    const own = new Headers(headers);
    if (body !== undefined) {
      own.set("Content-Type", "application/json");
      own.set("Content-Length", String(Buffer.byteLength(body)));
    }
    const wanted = new Request(`${origin}${basePath}${target}`, {
      method,
      headers: own,
      ...(body !== undefined && { body }),
    });
    const response = await handle(wanted, peers);
    return {
      status: response.status,
      retryAfter: response.headers.get("Retry-After") ?? undefined,
      text: await response.text(),
    };
  };
}
