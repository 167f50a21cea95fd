import { HeraldArgumentError } from "../errors.ts";

/** The part of the standard WebSocket that the client uses. `globalThis.WebSocket` and the package `ws` provide it. */
export type WebSocketLike = {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: SocketEvent) => void): void;
};

/** The members of socket events that the client reads. */
export type SocketEvent = { data?: unknown; code?: number; reason?: string; error?: unknown };

/** A WebSocket constructor. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** The global WebSocket. If there is none (Node before 22), throws an error that says what to do. */
export function globalWebSocket(): WebSocketConstructor {
  if (typeof globalThis.WebSocket === "function") return globalThis.WebSocket;
  throw new HeraldArgumentError(
    "There is no global WebSocket. Pass one in the options, for example `WebSocket` from the package `ws`.",
  );
}

/**
 * Converts a server's `http(s)` or `ws(s)` address, with or without `/ws`, to its WebSocket address. Keeps a leading path, for
 * servers behind a proxy. Refuses queries and credentials, because secrets in URLs end up in logs.
 */
export function webSocketUrl(url: string): string {
  const parsed = new URL(url);
  const protocol = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }[parsed.protocol];
  if (protocol === undefined)
    throw new HeraldArgumentError(`url must begin with http:, https:, ws: or wss:, not ${parsed.protocol}`);
  if (parsed.search !== "" || parsed.hash !== "" || parsed.username !== "" || parsed.password !== "") {
    throw new HeraldArgumentError(
      "url must not contain a query, a fragment or credentials; the client sends the token in the first frame",
    );
  }
  const path = parsed.pathname.replace(/\/+$/, "");
  return `${protocol}//${parsed.host}${path.endsWith("/ws") ? path : `${path}/ws`}`;
}
