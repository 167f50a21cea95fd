/** The part of the standard WebSocket that the client uses. `globalThis.WebSocket` and the package `ws` provide it. */
export type WebSocketLike = {
  /** Sends a text frame. */
  send(data: string): void;

  /** Closes the connection. */
  close(code?: number, reason?: string): void;

  /** Calls the listener for each event of this type. */
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: SocketEvent) => void): void;
};

/** The members of socket events that the client reads. */
export type SocketEvent = {
  /** The text of a frame. */
  data?: unknown;
  /** The close code. */
  code?: number;
  /** The reason of a close. */
  reason?: string;
  /** What failed, if the platform tells it. */
  error?: unknown;
};

/** A WebSocket constructor. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** The global WebSocket. If there is none (Node before 22), throws an error that says what to do. */
export function globalWebSocket(): WebSocketConstructor {
  if (globalThis.WebSocket) return globalThis.WebSocket;
  throw new TypeError(
    "There is no WebSocket here. Pass one as the option `WebSocket`, such as that of the package `ws`.",
  );
}
