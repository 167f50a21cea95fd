import { HeraldError, toHeraldError } from "../contract/errors/errors.ts";
import { codeOf, problemResponse } from "../contract/errors/problem.ts";
import { linesType } from "../contract/transfer/lines.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { networkOf } from "../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../lib/network/client-address.ts";
import { createId } from "../lib/text/ids.ts";
import { addressName } from "../services/limits/costs.ts";
import type { Refusals } from "../services/limits/refusals.ts";
import { createHeadCheck } from "./requests/head.ts";
import { createEndsSoon, isTooLongToDrop } from "./requests/long-bodies.ts";

/** A method and a path with its parameter names, of which there is a fixed number. */
export type Route = { readonly method: string; readonly path: string };

/** Where a node listens: at its only address, or at the public or the internal one of two. */
export type Listener = "only" | "public" | "internal";

/** A call from arrival to response; for a stream or a socket, to its opening. Handlers fill in what they learn. */
export type Call = {
  route: Route;
  /** The server that accepted it, which knows its address. */
  readonly from: Peers;
  /** Where it came in. */
  readonly listener: Listener;
  /** The caller's address, if it was determined; empty if unknown. */
  address: string | undefined;
  /** The API key that was accepted. */
  keyId: string | undefined;
  /** The organization it names, once validated as an identifier. */
  org: string | undefined;
  /** Its `X-Request-Id`. */
  requestId: string | undefined;
  /** Whether all of its body was read, or is known to be short. */
  isBodyRead: boolean;
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

/**
 * The id of a request: the caller's `X-Request-Id` if it is visible ASCII of at most 128 characters, otherwise a new
 * one.
 */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && callerRequestId.test(given) ? given : createId();
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const unmatched = new Map<string, Route>(methods.map((method) => [method, { method, path: "unmatched" }]));
const unknownMethod: Route = { method: "_OTHER", path: "unmatched" };

/** The two routes answered outside the router. */
export const realTimeRoutes: Record<"webSocket" | "stream", Route> = {
  webSocket: { method: "GET", path: "/ws" },
  stream: { method: "GET", path: "/sse" },
};

type CallStart = { requestId?: string; listener?: Listener };

/** Creates a call of a route. */
export function callOf(route: Route, from: Peers, { requestId, listener = "only" }: CallStart = {}): Call {
  return {
    route,
    from,
    listener,
    address: undefined,
    keyId: undefined,
    org: undefined,
    requestId,
    isBodyRead: false,
    isReplay: false,
    status: 0,
    code: undefined,
    waitedMs: 0,
    tookMs: 0,
  };
}

/** Creates a call whose route is not known yet. Callers can invent methods and paths, so neither is kept. */
export function newCall({ method }: Request, from: Peers, listener: Listener = "only"): Call {
  return callOf(unmatched.get(method) ?? unknownMethod, from, { listener });
}

/** The name under which a call takes turns that no organization pays for: its key, or else its address. */
export function turnNameOf(request: Request, { keyId, address, from }: Call, clientAddress: ClientAddress): string {
  return keyId ?? addressName(networkOf(address ?? clientAddress(request, from)));
}

/** Answers a call while observing it. */
export type TraceCall = <Answer extends Response | undefined>(
  request: Request,
  call: Call,
  answer: () => Answer | Promise<Answer>,
) => Promise<Answer>;

/** Like `TraceCall`, and refuses some calls itself. */
export type FollowCall = <Answer extends Response | undefined>(
  request: Request,
  call: Call,
  answer: () => Answer | Promise<Answer>,
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
  isDraining(): boolean;
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

const noBody = "this method takes no body; send the request without one";

/**
 * Creates the observer of incoming calls. An undefined response is an upgrade to a socket. Cheap responses are held
 * back: Bun would answer thousands of pipelined requests at once while everyone else waits, but closes a connection
 * that sends more requests while a response is pending.
 */
export function followCalls(observers: Observers): FollowCall {
  const { redact, onAnswer, traceCall, hold, isDraining, clientAddress, thread, refusals, onError } = observers;
  const endsSoon = createEndsSoon(thread);
  const faultOf = createHeadCheck();

  function refuse(request: Request, call: Call, error: HeraldError): Response {
    call.requestId ??= requestIdOf(request);
    return problemResponse(error, call.requestId);
  }

  /** The error for a head that is refused. The rest of the connection may not be what its client means, so it ends. */
  function refuseHead(request: Request, call: Call, fault: string): HeraldError {
    call.address ??= clientAddress(request, call.from);
    try {
      refusals.admit(call.address);
    } catch (error) {
      return toHeraldError(error);
    }
    refusals.note(call.address);
    return new HeraldError("bad_request", fault, { headers: { Connection: "close" } });
  }

  return async <Answer extends Response | undefined>(
    request: Request,
    call: Call,
    answer: () => Answer | Promise<Answer>,
  ) => {
    const startedAt = performance.now();
    const givenId = request.headers.get("x-request-id");
    // The id goes into responses, logs, traces and the audit log, so one that contains a credential is discarded.
    if (givenId !== null && redact(givenId) !== givenId) request.headers.delete("x-request-id");
    const admit = async () => {
      const fault = faultOf(request);
      if (fault !== undefined) return refuse(request, call, refuseHead(request, call, fault));
      if (takesNoBody.has(request.method) && isTooLongToDrop(request.headers))
        return refuse(request, call, new HeraldError("bad_request", noBody));
      try {
        return await answer();
      } catch (thrown) {
        const response = refuse(request, call, toHeraldError(thrown));
        if (response.status === 500) onError(thrown, call.requestId ?? "");
        return response;
      }
    };
    const response = await (traceCall === undefined ? admit() : traceCall<Answer | Response>(request, call, admit));
    call.status = response?.status ?? 101;
    if (call.status >= 400) call.code ??= codeOf(response); // not of an answer to HEAD, which the router makes anew
    call.tookMs = performance.now() - startedAt - call.waitedMs;
    call.requestId ??= response?.headers.get("X-Request-Id") ?? undefined;
    onAnswer(call);
    if (response !== undefined && !call.isBodyRead && isTooLongToDrop(request.headers)) {
      if (!answersWhileReading(response))
        call.isBodyRead = await endsSoon(request, turnNameOf(request, call, clientAddress));
      if (!call.isBodyRead) response.headers.set("Connection", "close");
    }
    if (response !== undefined && isCheap(call)) await hold(request, call, response);
    if (response !== undefined && isDraining()) response.headers.set("Connection", "close"); // RFC 9112, section 9.6
    return response;
  };
}
