import { HeraldArgumentError } from "../errors.ts";

/** The part of the standard WebSocket that the client uses; `globalThis.WebSocket` and the `ws` package have it. */
export type WebSocketLike = {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: SocketEvent) => void): void;
};

/** The members of the socket's events that the client reads. */
export type SocketEvent = { data?: unknown; code?: number; reason?: string };

/** A WebSocket constructor. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** The global WebSocket. Throws where there is none (Node before 22) and says what to do. */
export function globalWebSocket(): WebSocketConstructor {
  if (typeof globalThis.WebSocket === "function") return globalThis.WebSocket;
  throw new HeraldArgumentError(
    "There is no global WebSocket here: pass one, for example `WebSocket` of the package `ws`.",
  );
}

/**
 * The WebSocket address of a server given by its `http(s)` or `ws(s)` address, with or without `/ws`.
 * A path in front is kept for servers behind a proxy. Queries and credentials are refused: a secret in a URL ends up in logs.
 */
export function webSocketUrl(url: string): string {
  const parsed = new URL(url);
  const protocol = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }[parsed.protocol];
  if (protocol === undefined)
    throw new HeraldArgumentError(`url must start with http, https, ws or wss: ${parsed.protocol}`);
  if (parsed.search !== "" || parsed.hash !== "" || parsed.username !== "" || parsed.password !== "") {
    throw new HeraldArgumentError(
      "url must not have a query, a fragment or credentials; the token goes into the first frame",
    );
  }
  const path = parsed.pathname.replace(/\/+$/, "");
  return `${protocol}//${parsed.host}${path.endsWith("/ws") ? path : `${path}/ws`}`;
}
