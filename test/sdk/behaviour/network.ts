import type { SocketEvent, WebSocketConstructor, WebSocketLike } from "../../../sdk/connection/websocket.ts";

/** What a client did on the network, and when. `socket` counts its connections from 1. */
export type NetworkAct = { at: number; socket: number } & (
  | { client: "opens"; url: string }
  | { client: "sends"; request: string; parameters: Record<string, unknown>; id: unknown }
  | { client: "closes" }
);

type SocketEventName = "open" | "message" | "close" | "error";
type Request = Extract<NetworkAct, { client: "sends" }>;

/** The server's end of a connection. */
export type ScriptedSocket = {
  readonly isOpen: boolean;
  /** Requests that have no answer yet, oldest first. */
  readonly unanswered: Request[];
  tell(type: SocketEventName, event?: SocketEvent): void;
};

/** A network where the server does only what a script says. */
export type ScriptedNetwork = {
  acts: NetworkAct[];
  sockets: ScriptedSocket[];
  WebSocket: WebSocketConstructor;
};

/** Creates a network. A connection that the client closes hears nothing more: a dead network tells nobody of a close. */
export function createNetwork(now: () => number): ScriptedNetwork {
  const acts: NetworkAct[] = [];
  const sockets: ScriptedSocket[] = [];

  class ScriptedWebSocket implements WebSocketLike {
    readonly #listeners: [SocketEventName, (event: SocketEvent) => void][] = [];
    readonly #number: number;
    readonly #unanswered: Request[] = [];
    #state: "opening" | "open" | "closed" = "opening";

    constructor(url: string) {
      this.#number = sockets.length + 1;
      acts.push({ at: now(), socket: this.#number, client: "opens", url });
      const isOpen = () => this.#state === "open";
      sockets.push({
        get isOpen() {
          return isOpen();
        },
        unanswered: this.#unanswered,
        tell: (type, event = {}) => {
          if (type === "open") this.#state = "open";
          if (type === "close") this.#state = "closed";
          for (const [heard, listener] of this.#listeners) if (heard === type) listener(event);
        },
      });
    }

    addEventListener(type: SocketEventName, listener: (event: SocketEvent) => void) {
      this.#listeners.push([type, listener]);
    }

    send(data: string) {
      if (this.#state !== "open") throw new Error("The client sent on a socket that is not open.");
      const { id, ...rest } = JSON.parse(data).request;
      const [request = ""] = Object.keys(rest);
      const act: Request = {
        at: now(),
        socket: this.#number,
        client: "sends",
        request,
        parameters: rest[request],
        id,
      };
      acts.push(act);
      this.#unanswered.push(act);
    }

    close() {
      if (this.#state === "closed") return;
      this.#state = "closed";
      acts.push({ at: now(), socket: this.#number, client: "closes" });
    }
  }
  return { acts, sockets, WebSocket: ScriptedWebSocket };
}
