import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { withTimeout } from "../waiting/timers.ts";
import type { Answer } from "./frames.ts";
import type { WebSocketConstructor, WebSocketLike } from "./websocket.ts";

/**
 * Why a connection ended. `code` is the close code, or 1006 if there was no close frame. `cause` is the error of the socket, if it
 * failed and the platform tells why (browsers do not).
 */
export type Ending = {
  /** The close code; 1006 if there was no close frame. */
  code: number;
  /** Why, in words. */
  reason: string;
  /** The error of the socket, if it failed and the platform tells why. */
  cause?: unknown;
};

/** A connection. `request` sends a request and waits for the response; `end` closes it without waiting for the server. */
export type Connection = {
  request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Settles the request that a frame answers. */
  settle(answer: Answer): void;
  end(ending: Ending): void;
};

/** The options of a connection. `onEnd` is called exactly once, even if it never opens. */
export type ConnectionOptions = {
  requestTimeoutMs: number;
  onOpen: () => void;
  onText: (text: string) => void;
  onError: (error: unknown) => void;
  onEnd: (ending: Ending) => void;
};

type Pending = { resolve: (body: Record<string, unknown>) => void; reject: (error: Error) => void };

/** Opens a socket and matches responses to requests. Requests reject when the socket ends or when there is no response in time. */
export function openSocket(url: string, WebSocket: WebSocketConstructor, options: ConnectionOptions): Connection {
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
    for (const { reject } of pending.values()) reject(error);
    options.onEnd(ending);
  }

  function end(ending: Ending) {
    // A dead network can delay the close event for minutes, so the ending is reported before the socket closes.
    finish(ending);
    socket?.close(1000);
  }

  try {
    socket = new WebSocket(url);
    socket.addEventListener("open", () => {
      if (hasEnded) return socket?.close();
      clearTimeout(opening);
      isOpen = true;
      options.onOpen();
    });
    socket.addEventListener("message", ({ data }) => {
      if (!hasEnded && typeof data === "string") options.onText(data);
    });
    socket.addEventListener("error", ({ error }) => {
      if (error) failure = { cause: error }; // a close event follows
    });
    socket.addEventListener("close", ({ code = 1006, reason }) =>
      finish({ code, reason: reason || (isOpen || failure.cause ? "" : "the WebSocket did not open"), ...failure }),
    );
  } catch (error) {
    onError(error);
    queueMicrotask(() => finish({ code: 1006, reason: "the socket could not be created" }));
  }

  return {
    request(name, parameters) {
      const id = `${++lastId}`;
      const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        socket?.send(JSON.stringify({ request: { [name]: parameters, id } }));
      });
      return withTimeout(answer, requestTimeoutMs, `response to ${name}`).finally(() => pending.delete(id));
    },
    settle({ id, error, body }) {
      const request = pending.get(id ?? "");
      if (error === undefined) request?.resolve(body);
      else if (request) request.reject(new HeraldRequestError(error));
      else if (id === undefined) onError(new HeraldRequestError(error));
    },
    end,
  };
}
