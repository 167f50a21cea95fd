import type { Server, WebSocketHandler } from "bun";
import { HeraldError, toHeraldError } from "../../contract/errors/errors.ts";
import { problemResponse } from "../../contract/errors/problem.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";
import { addressName, threadCosts } from "../../services/limits/costs.ts";
import { clientOf } from "../connections/connection.ts";
import { tellFault } from "../connections/faults.ts";
import type { LineParts } from "../connections/line-parts.ts";
import { createFrameRates } from "../limits/frame-rates.ts";
import { errorFrame, readFrame } from "./frames.ts";
import {
  closeSocket,
  createSocketState,
  noteTaken,
  type Socket,
  SocketLine,
  type SocketLineParts,
  type SocketState,
} from "./socket.ts";
import { closingAfter, type SocketSessions } from "./socket-sessions.ts";

const connectWithinMs = 10_000;
const abnormalCode = 1006; // RFC 6455, section 7.4.1

/** Creates the WebSocket side of the gateway. */
export function createWebSockets(
  parts: LineParts & Pick<SocketLineParts, "socketTopics"> & { socketSessions: SocketSessions },
) {
  const { admission, socketSessions, register, thread, backlog, heartbeats } = parts;
  const { clientAddress, publicOriginOf, origins, limits, clock, steadyClock, onCut, lastEnds, onError } = parts;

  const lineParts = { socketTopics: parts.socketTopics, onWaiting: backlog.watch };
  const rates = createFrameRates({ ...limits, clock: steadyClock });

  function countPing(socket: Socket): void {
    const error = rates.takePing(socket.data.counts);
    if (error !== undefined) closeFor(socket, error);
  }

  /**
   * Begins the session of the upgrade, if any, and then answers the socket's frames one after another, as long as it is
   * open. A failure closes this socket only.
   */
  async function work(socket: Socket, line: SocketLine, begin?: () => Promise<void>): Promise<void> {
    const { data } = socket;
    data.isAtWork = true;
    try {
      await begin?.();
      for (let frame = data.frames.shift(); frame !== undefined && line.isOpen; frame = data.frames.shift()) {
        frame.letGo();
        await answer(socket, line, frame.text);
      }
    } catch (error) {
      const known = toHeraldError(error);
      if (known.code === "internal" && socket.readyState === WebSocket.OPEN) onError(error);
      closeSocket(socket, closingAfter(known) ?? { reason: "internal" });
    } finally {
      data.isAtWork = false;
    }
  }

  /** Answers a frame in a turn of its organization or, before there is a session, of its address. */
  async function answer(socket: Socket, line: SocketLine, text: string): Promise<void> {
    const { user, address, counts } = socket.data;
    const { owner } = line;
    try {
      if (user === undefined) await thread.turn(addressName(address), threadCosts.connect, { owner });
      else {
        const { org, uid } = user.connection;
        await thread.turn(org, threadCosts.request(text.length), { part: uid, owner });
      }
      if (line.isOpen) await socketSessions.answer(socket, line, readFrame(text, limits.jsonDepth));
    } finally {
      rates.release(counts, text.length);
      endIfOverdue(socket, line);
    }
  }

  function endIfOverdue({ data }: Socket, line: SocketLine): void {
    if (data.isOverdue && data.user === undefined) line.end("connect_timeout");
  }

  function watch(socket: Socket, line: SocketLine): void {
    const { data } = socket;
    heartbeats.watch(line.owner, limits, line);
    heartbeats.once(line.owner, connectWithinMs, () => {
      data.isOverdue = true;
      if (!data.isAtWork) endIfOverdue(socket, line); // otherwise after the answer, which may open a session
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
      const { opening } = socket.data;
      socket.data.opening = undefined; // a session of many conversations is large
      const line = new SocketLine(socket, lineParts);
      socket.data.line = line;
      register.add("websocket", line);
      watch(socket, line);
      if (register.isClosing) return line.end("restarting");
      if (opening === undefined) return;
      if ("reason" in opening) return closeSocket(socket, opening);
      void work(socket, line, () => socketSessions.begin(socket, line, opening.session, {}, () => undefined));
    },
    message(socket, text) {
      const { data } = socket;
      const { line, counts } = data;
      if (line === undefined) return;
      data.isAlive = true;
      if (typeof text !== "string") return line.end("protocol_error");
      const error = rates.takeRequest(counts, text.length);
      if (error !== undefined) {
        line.write([errorFrame(readFrame(text, limits.jsonDepth).id, error)]);
        return closeFor(socket, error);
      }
      data.frames.push({ text, letGo: backlog.hold(line, text.length) });
      if (!data.isAtWork) void work(socket, line);
    },
    ping: countPing,
    pong(socket) {
      socket.data.isAlive = true;
      countPing(socket);
    },
    drain: ({ data }) => noteTaken(data),
    close({ data }, code) {
      // Counts clients that hang up with bytes waiting, too: the two cases are indistinguishable (Bun 1.4.5).
      const isSlow = code === abnormalCode && data.waitingBytes > 0;
      if (isSlow) onCut();
      if (data.user !== undefined) lastEnds.noteEnd(data.user.connection, { code, isSlow });
      data.owner.close();
      data.frames.length = 0;
      for (const resume of data.onDrain.splice(0)) resume();
    },
  };

  /**
   * Opens the session asked for by a header of the upgrade, if any, or says why the socket is closed as soon as it is
   * open.
   */
  async function openSession(request: Request, address: string, owner: Owner): Promise<SocketState["opening"]> {
    try {
      origins.require(request);
      await admission.enter(owner, address);
      if (!request.headers.has("authorization")) return undefined;
      return { session: await admission.admit(owner, bearerToken(request.headers) ?? "", address) };
    } catch (error) {
      const closing = error instanceof HeraldError && !owner.isClosed ? closingAfter(error) : undefined;
      if (closing === undefined || closing.reason === "internal") throw error;
      return closing;
    }
  }

  return {
    handlers,
    /**
     * Answers `GET /ws`: `undefined` if the socket was upgraded, otherwise the refusal. Refused sockets are upgraded
     * and then closed, so that clients see the code. `requestId` becomes the connection's id.
     */
    async upgrade(request: Request, server: Server<SocketState>, requestId: string): Promise<Response | undefined> {
      const address = networkOf(clientAddress(request, server));
      const owner = createOwner(onError);
      const ignoreAbort = onAbort(request.signal, () => owner.close()); // before anything is taken
      try {
        if (request.method !== "GET")
          throw new HeraldError("method_not_allowed", undefined, { headers: { Allow: "GET" } });
        if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
          throw new HeraldError(
            "bad_request",
            "this path accepts only WebSocket connections (RFC 6455); for server-sent events, use /sse",
          );
        const opening = await openSession(request, address, owner);
        const publicOrigin = publicOriginOf(request, server);
        const arrival = { address, client: clientOf(request), publicOrigin, since: clock.now() };
        const data = createSocketState({ id: requestId, ...arrival, owner, opening }, steadyClock.now());
        if (server.upgrade(request, { data, headers: { "X-Request-Id": requestId } })) {
          ignoreAbort(); // an upgrade does not abort the request, and the socket must not hold it
          return undefined;
        }
        throw new HeraldError(
          "bad_request",
          "the request is not a valid WebSocket handshake (RFC 6455, section 4.2.1)",
        );
      } catch (thrown) {
        owner.close();
        return problemResponse(tellFault(thrown, onError), requestId);
      }
    },
  };
}

function closeFor(socket: Socket, error: HeraldError): void {
  closeSocket(socket, closingAfter(error) ?? { reason: "too_many" });
}
