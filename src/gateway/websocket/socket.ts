import type { ServerWebSocket } from "bun";
import { type CloseReason, closeCodes } from "../../contract/connections/close-codes.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { type Connection, comfortableBytes, type Line } from "../connections/connection.ts";
import type { SessionTimer } from "../connections/session-timer.ts";
import type { SocketTopics } from "../fanout/socket-topics.ts";
import { createFrameCounts, type FrameCounts } from "../limits/frame-rates.ts";

/** Why a socket is closed, with the limit it exceeded and when its client may return. */
export type Closing = {
  reason: CloseReason;
  limit?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** Replaces the meaning in the catalogue. At most 123 bytes (RFC 6455, section 5.5). */
  detail?: string | undefined;
};

/** The state of a WebSocket from upgrade to close. */
export type SocketState = {
  readonly id: string;
  readonly address: string;
  /** Closes with the socket. */
  readonly owner: Owner;
  /** The session opened by a header of the upgrade, or why the socket is closed at once. */
  readonly opening: { session: Session } | Closing | undefined;
  /** Defined from the socket's opening. */
  line: SocketLine | undefined;
  /** Defined once it has a session. */
  user: { connection: SocketConnection; timer: SessionTimer } | undefined;
  /** Frames that wait for the work on earlier ones; `letGo` ends the count of their bytes. */
  readonly frames: { text: string; letGo(): void }[];
  /** Whether its session is beginning or a frame is being answered. */
  isAtWork: boolean;
  /** What the socket sent recently. */
  readonly counts: FrameCounts;
  /** Whether the time to open a session has passed: without one, the socket is closed as soon as nothing is being answered. */
  isOverdue: boolean;
  /** Whether anything has arrived since the last ping. */
  isAlive: boolean;
  /** Bytes that were waiting when last checked. */
  waitingBytes: number;
  /** How often some of the waiting bytes were taken. */
  takings: number;
  /** Called when the socket has taken some of the waiting bytes, or is gone. */
  onDrain: (() => void)[];
};

/** A WebSocket with Herald's state. */
export type Socket = ServerWebSocket<SocketState>;

const openState = 1;

/** The line of a WebSocket. `write` sends frames, in order, to this socket only. */
export type SocketLine = Line & { write(frames: string[]): void };

/** Creates the state of a new socket. */
export function createSocketState(
  { id, address, owner, opening }: Pick<SocketState, "id" | "address" | "owner" | "opening">,
  now: number,
): SocketState {
  return {
    id,
    address,
    owner,
    opening,
    line: undefined,
    user: undefined,
    frames: [],
    isAtWork: false,
    counts: createFrameCounts(now),
    isOverdue: false,
    isAlive: true,
    waitingBytes: 0,
    takings: 0,
    onDrain: [],
  };
}

/** Closes a socket with a code of the catalogue. */
export function closeSocket(socket: Socket, { reason, limit, retryAfterSeconds, detail }: Closing): void {
  const { code, meaning } = closeCodes[reason];
  const what = detail ?? (limit === undefined ? meaning : `${meaning} (${limit})`);
  socket.close(code, retryAfterSeconds === undefined ? what : `${what}; retry in ${retryAfterSeconds} s`);
}

/** Notes that the socket took some of the waiting bytes, and resumes those waiting for that. */
export function noteTaken(data: SocketState): void {
  data.takings++;
  for (const resume of data.onDrain.splice(0)) resume();
}

/**
 * Creates the line of a socket that has just opened. `onWaiting` is called when bytes written to this socket alone are
 * waiting.
 */
export function createSocketLine(socket: Socket, onWaiting: (line: SocketLine) => void): SocketLine {
  const line: SocketLine = {
    owner: socket.data.owner,
    get isOpen() {
      return socket.readyState === openState;
    },
    org: undefined, // until it has a session
    get takings() {
      return socket.data.takings;
    },
    waitingBytes() {
      const { data } = socket;
      const before = data.waitingBytes;
      data.waitingBytes = socket.getBufferedAmount();
      // Any write also sends what is waiting if the socket has room again; then `drain` is not called (Bun 1.4.5).
      if (data.waitingBytes < before) noteTaken(data);
      return data.waitingBytes;
    },
    write(frames) {
      socket.cork(() => {
        for (const frame of frames) socket.sendText(frame);
      });
      // Inside a cork, `sendText` reports the room of the cork, not of the socket (Bun 1.4.5).
      if (socket.getBufferedAmount() > 0) onWaiting(line);
    },
    end: (reason) => closeSocket(socket, { reason }),
    cut: () => socket.terminate(),
  };
  return line;
}

/** Identifies the token that holds a connection open. */
type TokenOfSession = Pick<Session, "issuedAt" | "tokenId">;

/** A user's connection over a WebSocket. After `extend`, another token holds it open. */
export type SocketConnection = Connection & SocketLine & { extend(token: TokenOfSession): void };

/** Makes the line of a socket the connection of the session that it opened. */
export function toSocketConnection(
  line: SocketLine,
  { org, uid, issuedAt, tokenId }: Session,
  socket: Socket,
  { device, socketTopics }: { device: string | undefined; socketTopics: Pick<SocketTopics, "add" | "remove"> },
): SocketConnection {
  const ofUser: Omit<SocketConnection, keyof SocketLine> = {
    id: socket.data.id,
    uid,
    device,
    issuedAt,
    tokenId,
    extend(next) {
      Object.assign(line, { issuedAt: next.issuedAt, tokenId: next.tokenId });
    },
    deliver: (events) => line.write(events.map(({ payload }) => payload)),
    async isReadyForMore() {
      while (line.isOpen && line.waitingBytes() > comfortableBytes) {
        await new Promise<void>((resolve) => socket.data.onDrain.push(resolve));
      }
      return line.isOpen;
    },
    subscribe(topic) {
      if (line.isOpen) socketTopics.add(topic, org, socket);
    },
    unsubscribe(topic) {
      if (line.isOpen) socketTopics.remove(topic, socket);
    },
  };
  return Object.assign(line, ofUser, { org });
}
