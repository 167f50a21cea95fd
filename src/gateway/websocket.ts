import type { Server, WebSocketHandler } from "bun";
import { HeraldError, toHeraldError } from "../contract/errors.ts";
import { problemResponse } from "../contract/problem.ts";
import { networkOf } from "../lib/addresses.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import type { Clock } from "../lib/clock.ts";
import type { Counters } from "../lib/counters.ts";
import { spread } from "../lib/spread.ts";
import type { Sessions } from "../services/sessions.ts";
import { bearerToken } from "./bearer.ts";
import { errorFrame, readFrame } from "./frames.ts";
import type { Listener } from "./listeners.ts";
import type { Origins } from "./origins.ts";
import { closeSocket, type Socket, type SocketState } from "./socket.ts";
import { reasonAfter, type SocketSessions } from "./socket-sessions.ts";

const connectWithinMs = 10_000;
const requestWindowMs = 60_000;
const abnormalCode = 1006; // RFC 6455, section 7.4.1

/** The limits of WebSockets, in bytes, requests and milliseconds. */
export type SocketLimits = {
  frameBytes: number;
  backlogBytes: number;
  requestsPerWindow: number;
  jsonDepth: number;
  pingMs: number;
  pongMs: number;
};

type Dependencies = {
  sessions: Sessions;
  socketSessions: SocketSessions;
  perAddress: Counters;
  clientAddress: ClientAddress;
  origins: Origins;
  limits: SocketLimits;
  /** Measures heartbeats and rates, so it must not be one that can be set. */
  clock: Clock;
  /** Called when a connection ends that did not take what waited for it. */
  onCut(): void;
  onError(error: unknown): void;
};

/** The WebSocket side of the gateway. */
export function createWebSockets(dependencies: Dependencies) {
  const { sessions, socketSessions, perAddress, clientAddress, origins, limits, clock, onCut, onError } = dependencies;
  const sockets = new Set<Socket>();
  let isClosing = false;

  function isOverRate({ data }: Socket): boolean {
    const now = clock.now();
    if (now - data.windowStart >= requestWindowMs) {
      data.windowStart = now;
      data.requests = 0;
    }
    data.requests++;
    return data.requests > limits.requestsPerWindow;
  }

  /** Work on one socket goes one after another; what goes wrong closes this socket and no other. */
  function enqueue(socket: Socket, work: () => Promise<void>): void {
    socket.data.work = socket.data.work.then(work).catch((error: unknown) => {
      const known = toHeraldError(error);
      if (known.code === "internal" && socket.readyState === WebSocket.OPEN) onError(error);
      closeSocket(socket, reasonAfter(known) ?? "internal");
    });
  }

  const handlers: WebSocketHandler<SocketState> = {
    maxPayloadLength: Number.isFinite(limits.frameBytes) ? limits.frameBytes : 2 ** 31 - 1,
    backpressureLimit: Number.isFinite(limits.backlogBytes) ? limits.backlogBytes : 2 ** 31 - 1,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    sendPings: false,
    idleTimeout: 0,
    open(socket) {
      sockets.add(socket);
      const { opening } = socket.data;
      if (isClosing) {
        closeSocket(socket, "restarting");
      } else if (opening === undefined) {
        socket.data.connectTimer = setTimeout(() => closeSocket(socket, "connect_timeout"), connectWithinMs);
      } else if ("refusal" in opening) {
        closeSocket(socket, opening.refusal);
      } else {
        enqueue(socket, () => socketSessions.begin(socket, opening.session, {}, () => undefined));
      }
    },
    message(socket, data) {
      socket.data.isAlive = true;
      if (typeof data !== "string") return closeSocket(socket, "protocol_error");
      if (isOverRate(socket)) {
        const frame = readFrame(data, limits.jsonDepth);
        socket.sendText(
          errorFrame(
            frame.id,
            new HeraldError("rate_limited", `a connection may send ${limits.requestsPerWindow} requests in 60 seconds`),
          ),
        );
        return closeSocket(socket, "too_many");
      }
      enqueue(socket, () =>
        socket.readyState === WebSocket.OPEN
          ? socketSessions.answer(socket, readFrame(data, limits.jsonDepth))
          : Promise.resolve(),
      );
    },
    pong(socket) {
      socket.data.isAlive = true;
    },
    drain(socket) {
      for (const resume of socket.data.onDrain.splice(0)) resume();
    },
    close(socket, code) {
      const { data } = socket;
      // Also who hangs up without a word while bytes wait: the two cannot be told apart (Bun 1.4.5).
      if (code === abnormalCode && data.waitingBytes > 0) onCut();
      sockets.delete(socket);
      clearTimeout(data.connectTimer);
      for (const resume of data.onDrain.splice(0)) resume();
      socketSessions.end(socket);
      if (data.isCounted) perAddress.release(data.address);
    },
  };

  async function openSession(request: Request, address: string): Promise<SocketState["opening"]> {
    if (!request.headers.has("authorization")) return undefined;
    try {
      return { session: await sessions.open(bearerToken(request) ?? "", address) };
    } catch (error) {
      const refusal = error instanceof HeraldError ? reasonAfter(error) : undefined;
      if (refusal === undefined || refusal === "internal") throw error;
      return { refusal };
    }
  }

  return {
    handlers,
    /** Answers `GET /ws`: nothing when the socket was upgraded, else why not. Refused sockets are upgraded and closed, so that clients see the code. `requestId` becomes the id of the connection. */
    async upgrade(request: Request, server: Server<SocketState>, requestId: string): Promise<Response | undefined> {
      const address = networkOf(clientAddress(request, server));
      let isCounted = false;
      try {
        if (request.method !== "GET")
          throw new HeraldError("method_not_allowed", undefined, { headers: { Allow: "GET" } });
        if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
          throw new HeraldError(
            "bad_request",
            "this address speaks WebSocket (RFC 6455); for server-sent events use /sse",
          );
        origins.require(request);
        isCounted = perAddress.take(address);
        const opening: SocketState["opening"] = isCounted
          ? await openSession(request, address)
          : { refusal: "too_many" };
        const data: SocketState = {
          id: requestId,
          address,
          isCounted,
          opening,
          connection: undefined,
          work: Promise.resolve(),
          requests: 0,
          windowStart: clock.now(),
          connectTimer: undefined,
          sessionTimer: undefined,
          pingedAt: clock.now(),
          isAlive: true,
          waitingBytes: 0,
          onDrain: [],
        };
        if (server.upgrade(request, { data, headers: { "X-Request-Id": requestId } })) return undefined;
        throw new HeraldError("bad_request", "this is not a WebSocket handshake (RFC 6455, section 4.2.1)");
      } catch (thrown) {
        if (isCounted) perAddress.release(address);
        const error = toHeraldError(thrown);
        if (error.code === "internal") onError(thrown);
        return problemResponse(error, requestId);
      }
    },
    /** Pings who was not pinged for a while, and cuts who did not answer in time. Called every second. */
    beat(): void {
      const now = clock.now();
      for (const socket of sockets) {
        const { data } = socket;
        const silentMs = now - data.pingedAt;
        if (!data.isAlive && silentMs >= limits.pongMs) {
          socket.terminate();
        } else if (silentMs >= limits.pingMs) {
          data.pingedAt = now;
          data.isAlive = false;
          socket.ping();
        }
      }
    },
    *listeners(): Iterable<Listener> {
      for (const socket of sockets) {
        socket.data.waitingBytes = socket.getBufferedAmount();
        yield { waitingBytes: () => socket.data.waitingBytes, cut: () => socket.terminate() };
      }
    },
    count: () => sockets.size,
    /** Closes every socket, spread evenly over `spreadMs`, so that they do not all come back at once; and those that still open. */
    async closeAll(spreadMs: number): Promise<void> {
      isClosing = true;
      await spread([...sockets], spreadMs, (socket) => closeSocket(socket, "restarting"));
    },
  };
}
