import type { Peers } from "../lib/network/client-address.ts";

/** What calls are told apart by: a method and a path with its parameters, of which there are a fixed number. */
export type Route = { readonly method: string; readonly path: string };

/** A call from its arrival to its answer; of a stream or a socket, to its opening. Who answers it writes down what it learns. */
export type Call = {
  route: Route;
  /** The server that took it, which knows where it came from. */
  readonly from: Peers;
  /** Where it came from, if somebody asked; empty when nobody knows it. */
  address: string | undefined;
  /** The API key that was taken. */
  keyId: string | undefined;
  /** The organization that it names, once that was found to be an identifier. */
  org: string | undefined;
  /** Its `X-Request-Id`. */
  requestId: string | undefined;
  /** Whether it was a retry that was given its first answer again. */
  isReplay: boolean;
  /** Of the answer; 0 before. */
  status: number;
  tookMs: number;
};

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const unmatched = new Map<string, Route>(methods.map((method) => [method, { method, path: "unmatched" }]));
const unknownMethod: Route = { method: "_OTHER", path: "unmatched" };

/** The two that are answered outside of the router. */
export const realTimeRoutes: Record<"webSocket" | "stream", Route> = {
  webSocket: { method: "GET", path: "/ws" },
  stream: { method: "GET", path: "/sse" },
};

/** A call of a route. */
export function callOf(route: Route, from: Peers, requestId?: string): Call {
  return {
    route,
    from,
    address: undefined,
    keyId: undefined,
    org: undefined,
    requestId,
    isReplay: false,
    status: 0,
    tookMs: 0,
  };
}

/** A call before anybody knows what it is. Callers make up methods and paths as they like, so neither is kept. */
export function newCall({ method }: Request, from: Peers): Call {
  return callOf(unmatched.get(method) ?? unknownMethod, from);
}

/** Answers a call, and looks on. */
export type TraceCall = <Answer extends Response | undefined>(
  request: Request,
  call: Call,
  answer: () => Answer | Promise<Answer>,
) => Promise<Answer>;

type Observers = {
  /** Takes credentials out of a text. */
  redact(text: string): string;
  /** Told of each call when it was answered. */
  onAnswer(call: Call): void;
  /** Put around each answer, if it is there. */
  traceCall?: TraceCall | undefined;
  /** Resolves when a cheap answer may go out. */
  hold(request: Request, call: Call, response: Response): Promise<void>;
};

/** Whether anybody may ask for such an answer as often as they like: no key was shown, nor a token that opened a stream, or the call was refused. */
function isCheap({ keyId, route, status }: Call): boolean {
  return status >= 400 || (keyId === undefined && route !== realTimeRoutes.stream);
}

/**
 * Follows calls from outside. No answer is an upgrade to a socket. Cheap answers are held back: the runtime would
 * answer what a connection has pipelined at once, thousands of them, while all others wait; but it closes a connection that
 * asks on while an answer is pending.
 */
export function followCalls({ redact, onAnswer, traceCall, hold }: Observers): TraceCall {
  return async (request, call, answer) => {
    const startedAt = performance.now();
    const givenId = request.headers.get("x-request-id");
    // An id goes everywhere: into answers, logs, traces, the audit log. One that is a credential is not taken.
    if (givenId !== null && redact(givenId) !== givenId) request.headers.delete("x-request-id");
    const response = await (traceCall === undefined ? answer() : traceCall(request, call, answer));
    call.status = response?.status ?? 101;
    call.tookMs = performance.now() - startedAt;
    call.requestId ??= response?.headers.get("X-Request-Id") ?? undefined;
    onAnswer(call);
    if (response !== undefined && isCheap(call)) await hold(request, call, response);
    return response;
  };
}
