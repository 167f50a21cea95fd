import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { withTimeout } from "../waiting/timers.ts";
import { readFrame, type ServerFrame } from "./frames.ts";
import type { WebSocketConstructor, WebSocketLike } from "./websocket.ts";

/**
 * Why a connection ended. `code` is the close code, or 1006 if there was no close frame. `cause` is the error of the socket, if it
 * failed and the platform tells why (browsers do not).
 */
export type Ending = { code: number; reason: string; cause?: unknown };

/** One socket. `request` sends a request and waits for the response; `end` closes the socket without waiting for the server. */
export type Connection = {
  request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>>;
  end(ending: Ending): void;
};

/** The options of a connection. `onEnd` is called exactly once, even if the socket never opens. */
export type ConnectionOptions = {
  url: string;
  WebSocket: WebSocketConstructor;
  requestTimeoutMs: number;
  onOpen: () => void;
  onFrame: (frame: Exclude<ServerFrame, { kind: "response" }>) => void;
  onError: (error: unknown) => void;
  onEnd: (ending: Ending) => void;
};

type Pending = { resolve: (body: Record<string, unknown>) => void; reject: (error: Error) => void };

/** Opens a socket and matches responses to requests. Requests reject when the socket ends or when there is no response in time. */
export function openConnection(options: ConnectionOptions): Connection {
  const { requestTimeoutMs, onError } = options;
  const pending = new Map<string, Pending>();
  let lastId = 0;
  let isOpen = false;
  let hasEnded = false;
  let socket: WebSocketLike | undefined;
  let failure: { cause?: unknown } = {};
  const opening = setTimeout(() => end({ code: 1006, reason: "the server did not respond in time" }), requestTimeoutMs);

  function finish(ending: Ending) {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(opening);
    const error = new HeraldConnectionError(`The connection was lost (${ending.code}) before the response arrived.`);
    for (const request of pending.values()) request.reject(error);
    pending.clear();
    options.onEnd(ending);
  }

  function end(ending: Ending) {
    // A dead network can delay the close event for minutes, so the ending is reported before the socket closes.
    finish(ending);
    socket?.close(1000);
  }

  function receive(data: unknown) {
    if (hasEnded || typeof data !== "string") return;
    let frame: ServerFrame;
    try {
      frame = readFrame(data);
    } catch (error) {
      onError(error);
      return;
    }
    if (frame.kind === "response") settle(frame);
    else options.onFrame(frame);
  }

  function settle({ id, error, body }: Extract<ServerFrame, { kind: "response" }>) {
    const request = id === undefined ? undefined : pending.get(id);
    if (request === undefined) {
      if (error !== undefined && id === undefined) onError(new HeraldRequestError(error));
    } else if (error === undefined) request.resolve(body);
    else request.reject(new HeraldRequestError(error));
  }

  function request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (hasEnded || !isOpen) return Promise.reject(new HeraldConnectionError("The client is not connected."));
    lastId += 1;
    const id = String(lastId);
    const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
      pending.set(id, { resolve, reject });
      socket?.send(JSON.stringify({ request: { [name]: parameters, id } }));
    });
    const timeout = () => new HeraldConnectionError(`No response to ${name} within ${requestTimeoutMs / 1000} s.`);
    return withTimeout(answer, requestTimeoutMs, timeout).finally(() => pending.delete(id));
  }

  try {
    socket = new options.WebSocket(options.url);
    socket.addEventListener("open", () => {
      if (hasEnded) return socket?.close();
      isOpen = true;
      clearTimeout(opening);
      options.onOpen();
    });
    socket.addEventListener("message", (event) => receive(event.data));
    socket.addEventListener("error", ({ error }) => {
      failure = error === undefined || error === null ? {} : { cause: error }; // a close event follows
    });
    socket.addEventListener("close", ({ code = 1006, reason = "" }) => finish({ code, reason, ...failure }));
  } catch (error) {
    onError(error);
    queueMicrotask(() => finish({ code: 1006, reason: "the socket could not be created" }));
  }
  return { request, end };
}
