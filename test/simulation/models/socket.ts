import type { Server, WebSocketHandler } from "bun";
import type { Socket, SocketState } from "../../../src/gateway/websocket/socket.ts";
import type { createWebSockets } from "../../../src/gateway/websocket/websocket.ts";

const openState = WebSocket.OPEN;
const closedState = WebSocket.CLOSED;
const abnormalCode = 1006;
const kernelBytes = 256 * 1024;
const longestDrainMs = 200;

/** The client's end of a socket. */
export type Wire = {
  /** How fast the client is reading now. */
  readonly bytesPerMs: number;
  onText(text: string): void;
  /** The socket follows its first topic. */
  onSubscribed(): void;
  onEnd(code: number): void;
};

/** A connection as something that can break. */
export type Link = {
  /** The client breaks it. */
  cut(): void;
  /** The server's process is gone: the client notices, the server never does. */
  orphan(): void;
};

/** Both ends of one of Bun's WebSockets. */
type SocketModel = Link & {
  readonly socket: Socket;
  /** The effect of a publish on this socket. True if bytes are waiting. */
  push(frame: string): boolean;
};

/** The topics of one server, and their followers. */
export type SocketTopics = Map<string, Set<SocketModel>>;

type Options = {
  state: SocketState;
  handlers: WebSocketHandler<SocketState>;
  wire: Wire;
  topics: SocketTopics;
  /** Called with each text that the product writes. */
  onWrite(text: string): void;
  now(): number;
};

/**
 * Behaves as measured of Bun's sockets: frames keep their order, bytes that the client does not take in time wait, and
 * above the limit the socket is cut along with them, so that the client sees 1006.
 */
function createSocketModel({ state, handlers, wire, topics, onWrite, now }: Options): SocketModel {
  const followed = new Set<string>();
  let readyState: typeof openState | typeof closedState = openState;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let room = kernelBytes;
  let measuredAt = now();
  let isDraining = false;

  function hasRoom(): boolean {
    room = Math.min(kernelBytes, room + (now() - measuredAt) * wire.bytesPerMs);
    measuredAt = now();
    return room > 0;
  }

  function write(text: string): void {
    if (readyState !== openState) return;
    onWrite(text);
    if (waiting.length === 0 && hasRoom()) {
      room -= text.length;
      wire.onText(text);
      return;
    }
    waiting.push(text);
    waitingBytes += text.length;
    if (waitingBytes > (handlers.backpressureLimit ?? 0)) end(abnormalCode);
    else drainLater();
  }

  function drainLater(): void {
    if (isDraining) return;
    isDraining = true;
    setTimeout(drain, Math.min(longestDrainMs, Math.max(0, Math.ceil(-room / wire.bytesPerMs)) + 1));
  }

  function drain(): void {
    isDraining = false;
    if (readyState !== openState) return;
    while (waiting.length > 0 && hasRoom()) handOver();
    void handlers.drain?.(socket);
    if (waiting.length > 0) drainLater();
  }

  function handOver(): void {
    const text = waiting.shift() ?? "";
    room -= text.length;
    waitingBytes -= text.length;
    wire.onText(text);
  }

  function gone(code: number): void {
    if (readyState !== openState) return;
    readyState = closedState;
    waiting = [];
    waitingBytes = 0;
    for (const topic of followed) topics.get(topic)?.delete(model);
    wire.onEnd(code);
  }

  function end(code: number, reason = ""): void {
    if (readyState !== openState) return;
    gone(code);
    void handlers.close?.(socket, code, reason);
  }

  const used = {
    data: state,
    get readyState() {
      return readyState;
    },
    sendText(text: string) {
      write(text);
      return waiting.length > 0 ? -1 : text.length;
    },
    cork<Result>(work: (corked: Socket) => Result): Result {
      return work(socket);
    },
    getBufferedAmount: () => waitingBytes,
    subscribe(topic: string) {
      followed.add(topic);
      topics.set(topic, (topics.get(topic) ?? new Set()).add(model));
      wire.onSubscribed();
      return true;
    },
    unsubscribe(topic: string) {
      followed.delete(topic);
      return topics.get(topic)?.delete(model) ?? false;
    },
    ping() {
      void handlers.pong?.(socket, Buffer.alloc(0));
      return 0;
    },
    close(code: number, reason: string) {
      if (readyState === openState) while (waiting.length > 0) handOver(); // a close frame follows what was written before
      end(code, reason);
    },
    terminate: () => end(abnormalCode),
  } satisfies Partial<Socket>;
  // Bun's interface has more methods than the gateway uses; calling one of those would throw, and fail the seed.
  const socket = used as unknown as Socket;

  const model: SocketModel = {
    socket,
    push(frame) {
      write(frame);
      return waiting.length > 0;
    },
    cut: () => end(abnormalCode),
    orphan: () => gone(abnormalCode),
  };
  return model;
}

type Opening = Omit<Options, "state" | "handlers"> & {
  webSockets: ReturnType<typeof createWebSockets>;
  /** What the client sends as soon as the socket is open. */
  frame: string;
};

/** Upgrades a request like Bun's server, and sends the client's first frame. */
export function openWebSocket({ webSockets, wire, topics, onWrite, now, frame }: Opening): Link {
  const { handlers } = webSockets;
  let model: SocketModel | undefined;
  let isOver = false;
  const upgrading = {
    upgrade(_: Request, { data }: { data: SocketState }) {
      if (isOver) return false;
      model = createSocketModel({ state: data, handlers, wire, topics, onWrite, now });
      void handlers.open?.(model.socket);
      void handlers.message?.(model.socket, frame);
      return true;
    },
  };
  const request = new Request("http://herald/ws", { headers: { upgrade: "websocket" } });
  // The WebSocket side uses nothing else of its server; any other call would throw, and fail the seed.
  void webSockets.upgrade(request, upgrading as unknown as Server<SocketState>, "");

  function end(how: "cut" | "orphan"): void {
    if (isOver) return;
    isOver = true;
    if (model === undefined) wire.onEnd(abnormalCode);
    else model[how]();
  }
  return { cut: () => end("cut"), orphan: () => end("orphan") };
}
