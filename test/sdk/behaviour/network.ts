import type { SocketEvent, WebSocketConstructor, WebSocketLike } from "../../../sdk/connection/websocket.ts";

/** What a client did on the network, and when. `socket` counts its connections from 1, of both kinds. */
export type NetworkAct = { at: number; socket: number } & (
  | { client: "opens"; url: string }
  | { client: "streams"; url: string; parameters: Record<string, unknown> }
  | { client: "sends"; request: string; parameters: Record<string, unknown>; id: unknown }
  | { client: "closes" }
);

export type Request = Extract<NetworkAct, { client: "sends" }>;
/** What a server that refuses says. */
export type Refusal = { status?: number | undefined; code?: string | undefined; retryAfter?: number | undefined };

/** The server's end of a connection. What one kind of connection does not have does nothing. */
export type ScriptedSocket = {
  /** Requests that have no answer yet, oldest first. */
  readonly unanswered: Request[];
  /** `type` is the media type of a stream, by default its own. */
  accept(recovered?: boolean, type?: string): void;
  refuse(refusal: Refusal): void;
  /** Sends a frame, or raw text. */
  send(frame: object | undefined, text: string): void;
  close(code: number, reason: string): void;
  cut(): void;
};

/** A network where the server does only what a script says. */
export type ScriptedNetwork = {
  acts: NetworkAct[];
  sockets: ScriptedSocket[];
  WebSocket: WebSocketConstructor;
  fetch: (url: string, options: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>;
};

/** Creates a network. A connection that the client closes hears nothing more: a dead network tells nobody of a close. */
export function createNetwork(now: () => number): ScriptedNetwork {
  const acts: NetworkAct[] = [];
  const sockets: ScriptedSocket[] = [];
  const shared = { acts, sockets, now };
  return { acts, sockets, WebSocket: scriptWebSockets(shared), fetch: scriptStreams(shared) };
}

type Shared = { acts: NetworkAct[]; sockets: ScriptedSocket[]; now: () => number };
type SocketEventName = "open" | "message" | "close" | "error";

function scriptWebSockets({ acts, sockets, now }: Shared): WebSocketConstructor {
  return class implements WebSocketLike {
    readonly #listeners: [SocketEventName, (event: SocketEvent) => void][] = [];
    readonly #number: number;
    readonly #unanswered: Request[] = [];
    #state: "opening" | "open" | "closed" = "opening";

    constructor(url: string) {
      this.#number = sockets.length + 1;
      acts.push({ at: now(), socket: this.#number, client: "opens", url });
      const tell = (type: SocketEventName, event: SocketEvent = {}) => {
        if (type === "open") this.#state = "open";
        if (type === "close") this.#state = "closed";
        for (const [heard, listener] of this.#listeners) if (heard === type) listener(event);
      };
      const cut = () => {
        tell("error");
        tell("close", { code: 1006, reason: "" });
      };
      sockets.push({
        unanswered: this.#unanswered,
        accept: () => tell("open"),
        refuse: cut,
        cut,
        send: (frame, text) => tell("message", { data: frame === undefined ? text : JSON.stringify(frame) }),
        close: (code, reason) => tell("close", { code, reason }),
      });
    }

    addEventListener(type: SocketEventName, listener: (event: SocketEvent) => void) {
      this.#listeners.push([type, listener]);
    }

    send(data: string) {
      if (this.#state !== "open") throw new Error("The client sent on a socket that is not open.");
      const { id, ...rest } = JSON.parse(data).request;
      const [request = ""] = Object.keys(rest);
      const parameters = rest[request];
      const act: Request = { at: now(), socket: this.#number, client: "sends", request, parameters, id };
      acts.push(act);
      this.#unanswered.push(act);
    }

    close() {
      if (this.#state === "closed") return;
      this.#state = "closed";
      acts.push({ at: now(), socket: this.#number, client: "closes" });
    }
  };
}

function scriptStreams({ acts, sockets, now }: Shared): ScriptedNetwork["fetch"] {
  const encoder = new TextEncoder();
  return (url, { headers, signal }) => {
    const socket = sockets.length + 1;
    const given = new Headers(headers);
    const since = given.get("last-event-id");
    const token = given.get("authorization")?.replace(/^Bearer /, "");
    acts.push({ at: now(), socket, client: "streams", url, parameters: { token, ...(since !== null && { since }) } });
    const answer = Promise.withResolvers<Response>();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let isOver = false;

    function end(error?: Error) {
      if (isOver) return;
      isOver = true;
      if (error === undefined) controller?.close();
      else controller?.error(error);
      answer.reject(error ?? new Error("the stream has ended"));
    }

    signal.addEventListener("abort", () => {
      if (isOver) return;
      acts.push({ at: now(), socket, client: "closes" });
      end(new Error("aborted"));
    });
    sockets.push({
      unanswered: [],
      accept(recovered, type = "text/event-stream") {
        const body = new ReadableStream<Uint8Array>({
          start(started) {
            controller = started;
          },
        });
        const told = recovered === undefined ? {} : { "Herald-Recovered": String(recovered) };
        answer.resolve(new Response(body, { headers: { "Content-Type": type, ...told } }));
      },
      refuse({ status, code, retryAfter }) {
        if (status === undefined) return end(new Error("refused"));
        isOver = true;
        const type = code === undefined ? "text/html" : "application/problem+json";
        const wait = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
        const body = code === undefined ? "<p>No.</p>" : JSON.stringify({ status, code, detail: "No." });
        answer.resolve(new Response(body, { status, headers: { "Content-Type": type, ...wait } }));
      },
      send(frame, text) {
        const block =
          frame === undefined ? text : `event: ${Object.keys(frame)[0]}\ndata: ${JSON.stringify(frame)}\n\n`;
        if (!isOver) controller?.enqueue(encoder.encode(block));
      },
      close: () => end(),
      cut: () => end(new Error("reset")),
    });
    return answer.promise;
  };
}
