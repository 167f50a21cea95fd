import { HeraldError, toHeraldError } from "../contract/errors/errors.ts";
import { codeOf, problemResponse } from "../contract/errors/problem.ts";
import { linesType } from "../contract/transfer/lines.ts";
import { forgetOldest } from "../lib/caches/forget-oldest.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { networkOf } from "../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../lib/network/client-address.ts";
import { createId } from "../lib/text/ids.ts";
import { addressName } from "../services/limits/costs.ts";
import type { Refusals } from "../services/limits/refusals.ts";
import { bytesOfBody, isTooLongToDrop } from "./requests/body.ts";
import { createEndsSoon } from "./requests/long-bodies.ts";

/** A method and a path with its parameter names, of which there is a fixed number. */
export type Route = { readonly method: string; readonly path: string };

/** The path of a route as the router takes it. */
export function routerPath({ path }: Pick<Route, "path">): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Where a node listens: at its only address, or at the public or the internal one of two. */
export type Listener = "only" | "public" | "internal";

/** The server that accepted a request: knows its address, and sets how long its connection may be idle. */
export type Runtime = Peers & {
  /** In seconds; 0 means no time-out. */
  timeout(request: Request, seconds: number): void;
};

/** A call from arrival to response; for a stream or a socket, to its opening. Handlers fill in what they learn. */
export type Call = {
  route: Route;
  readonly from: Runtime;
  /** Where it came in. */
  readonly listener: Listener;
  /** Its `X-Request-Id`: the caller's if it is visible ASCII of at most 128 characters, otherwise a new one. */
  requestId: string;
  /** The length of its body, as `bytesOfBody` reads it. */
  readonly bodyBytes: number;
  /** Whether all of its body was read, or is known to be short. */
  isBodyRead: boolean;
  /** The caller's address, if it was determined; empty if unknown. */
  address: string | undefined;
  /** The API key that was accepted. */
  keyId: string | undefined;
  /** The organization it names, once validated as an identifier. */
  org: string | undefined;
  /** Whether it was a retry that got its first response again. */
  isReplay: boolean;
  /** The response status; 0 before. */
  status: number;
  /** The code of the error that it was refused with. */
  code: string | undefined;
  /** The time the caller asked to wait after the work was done, which `tookMs` leaves out. */
  waitedMs: number;
  tookMs: number;
};

const callerRequestId = /^[\x21-\x7e]{1,128}$/;

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const unmatched = new Map<string, Route>(methods.map((method) => [method, { method, path: "unmatched" }]));
const unknownMethod: Route = { method: "_OTHER", path: "unmatched" };

/** The two routes answered outside the router. */
export const realTimeRoutes: Record<"webSocket" | "stream", Route> = {
  webSocket: { method: "GET", path: "/ws" },
  stream: { method: "GET", path: "/sse" },
};

/** What is known of a call when it arrives. Without a route, the router finds it. */
export type CallStart = { from: Runtime; listener?: Listener; route?: Route; requestId?: string };

/** Creates a call. Callers can invent methods and paths, so neither is kept while its route is not known. */
export function newCall(
  { headers, method }: Request,
  { from, listener = "only", route = unmatched.get(method) ?? unknownMethod, requestId }: CallStart,
  redact: (text: string) => string = (text) => text,
): Call {
  return {
    route,
    from,
    listener,
    requestId: requestId ?? requestIdIn(headers, redact) ?? createId(),
    bodyBytes: bytesOfBody(headers),
    isBodyRead: false,
    address: undefined,
    keyId: undefined,
    org: undefined,
    isReplay: false,
    status: 0,
    code: undefined,
    waitedMs: 0,
    tookMs: 0,
  };
}

/** The id goes into responses, logs, traces and the audit log, so one that contains a credential is discarded. */
function requestIdIn(headers: Headers, redact: (text: string) => string): string | undefined {
  const given = headers.get("x-request-id");
  return given !== null && callerRequestId.test(given) && redact(given) === given ? given : undefined;
}

/** The name under which a call takes turns that no organization pays for: its key, or else its address. */
export function turnNameOf(request: Request, { keyId, address, from }: Call, clientAddress: ClientAddress): string {
  return keyId ?? addressName(networkOf(address ?? clientAddress(request, from)));
}

/** Answers a call while observing it. Rejects with what `answer` throws. */
export type TraceCall = <Answer extends Response | undefined>(
  request: Request,
  call: Call,
  answer: () => Answer | Promise<Answer>,
) => Promise<Answer>;

/** Answers a request as a call, which it observes, and refuses some calls itself. */
export type FollowCall = <Answer extends Response | undefined>(
  request: Request,
  start: CallStart,
  answer: (request: Request, call: Call) => Answer | Promise<Answer>,
) => Promise<Answer | Response>;

type Observers = {
  /** Removes credentials from a text. */
  redact(text: string): string;
  /** Called for each call once it is answered. */
  onAnswer(call: Call): void;
  /** Wraps each answer, if set. */
  traceCall?: TraceCall | undefined;
  /** Resolves when the response to a cheap call may be sent. */
  hold(request: Request, call: Call, response: Response): Promise<void>;
  /** Whether the node is about to stop, so that each answer closes its connection. */
  drain: { readonly isDraining: boolean };
  clientAddress: ClientAddress;
  thread: ThreadScheduler;
  /** Counts the requests whose head is refused. */
  refusals: Pick<Refusals, "admit" | "note">;
  onError(error: unknown, requestId: string): void;
};

/**
 * Whether anyone may get such a response as often as they like: no key and no token of an open stream was presented, or
 * the call was refused.
 */
function isCheap({ keyId, route, status }: Call): boolean {
  return status >= 400 || (keyId === undefined && route !== realTimeRoutes.stream);
}

/** Whether the body is being read while the response is written, as lines are. */
function answersWhileReading({ status, headers }: Response): boolean {
  return status === 200 && headers.get("Content-Type") === linesType;
}

/** Bun reads and drops the body of such a request while it is answered, which may take as long as a stream. */
const takesNoBody = new Set(["GET", "HEAD"]);

const maxRememberedHosts = 100;
const badHost =
  "the request has no valid `Host` header; send exactly one, with the host and port that the request goes to (RFC 9112, section 3.2)";
const badLength = "`Content-Length` is not one decimal number; send it once, or not at all (RFC 9112, section 6.3)";
const noBody = "this method takes no body; send the request without one";

/**
 * Creates the observer of incoming calls. An undefined response is an upgrade to a socket. Cheap responses are held
 * back: Bun would answer thousands of pipelined requests at once while everyone else waits, but closes a connection
 * that sends more requests while a response is pending.
 */
export function followCalls(observers: Observers): FollowCall {
  const { redact, onAnswer, traceCall, hold, drain, clientAddress, thread, refusals, onError } = observers;
  const endsSoon = createEndsSoon(thread);
  const faultOf = createHeadCheck();

  /** The error for a head that is refused. The rest of the connection may not be what its client means, so it ends. */
  function refuseHead(request: Request, call: Call, fault: string): HeraldError {
    call.address ??= clientAddress(request, call.from);
    refusals.admit(call.address);
    refusals.note(call.address);
    return new HeraldError("bad_request", fault, { headers: { Connection: "close" } });
  }

  /** Answers a call unless its head is refused. */
  function admit<Answer>(request: Request, call: Call, answer: (request: Request, call: Call) => Answer): Answer {
    const fault = faultOf(request, call.bodyBytes);
    if (fault !== undefined) throw refuseHead(request, call, fault);
    if (isTooLongToDrop(call.bodyBytes) && takesNoBody.has(request.method))
      throw new HeraldError("bad_request", noBody);
    return answer(request, call);
  }

  return async <Answer extends Response | undefined>(
    request: Request,
    start: CallStart,
    answer: (request: Request, call: Call) => Answer | Promise<Answer>,
  ) => {
    const startedAt = performance.now();
    const call = newCall(request, start, redact);
    let response: Answer | Response;
    try {
      response = await (traceCall === undefined
        ? admit(request, call, answer)
        : traceCall(request, call, () => admit(request, call, answer)));
    } catch (thrown) {
      response = problemResponse(toHeraldError(thrown), call.requestId);
      if (response.status === 500) onError(thrown, call.requestId);
    }
    call.status = response?.status ?? 101;
    if (call.status >= 400) call.code ??= codeOf(response); // not of an answer to HEAD, which the router makes anew
    call.tookMs = performance.now() - startedAt - call.waitedMs;
    onAnswer(call);
    if (response !== undefined && !call.isBodyRead && isTooLongToDrop(call.bodyBytes)) {
      if (!answersWhileReading(response))
        call.isBodyRead = await endsSoon(request, turnNameOf(request, call, clientAddress));
      if (!call.isBodyRead) response.headers.set("Connection", "close");
    }
    if (response !== undefined && isCheap(call)) await hold(request, call, response);
    if (response !== undefined && drain.isDraining) response.headers.set("Connection", "close"); // RFC 9112, section 9.6
    return response;
  };
}

/**
 * Creates the check of what two programs could understand differently: `Host` and `Content-Length`. Once it has passed,
 * `new URL(request.url)` does not throw. Remembers valid hosts, as nearly all requests name the same few.
 */
function createHeadCheck() {
  const remembered = new Set<string>();

  function isValidHost(host: string): boolean {
    if (remembered.has(host)) return true;
    // White space is where Bun joined two lines. Bun leaves out the host of a URL if it cannot be one at all.
    if (/\s/.test(host) || !URL.canParse(`http://${host}/`)) return false;
    remembered.add(host);
    forgetOldest(remembered, maxRememberedHosts);
    return true;
  }

  /** What is wrong with the head of a request, if anything. */
  return ({ url, headers }: Request, bodyBytes: number): string | undefined => {
    const host = headers.get("host");
    if (host === null || !url.startsWith("http") || !isValidHost(host)) return badHost;
    return !Number.isFinite(bodyBytes) && headers.has("content-length") ? badLength : undefined;
  };
}
