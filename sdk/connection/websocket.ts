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
  if (globalThis.WebSocket) return globalThis.WebSocket;
  throw new TypeError("There is no WebSocket here. Pass one in the options, such as that of the package `ws`.");
}
