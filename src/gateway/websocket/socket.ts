import type { ServerWebSocket } from "bun";
import { type CloseReason, closeCodes } from "../../contract/connections/close-codes.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { type Connection, comfortableBytes, type Line } from "../connections/connection.ts";
import type { SessionTimer } from "../connections/session-timer.ts";
import type { ConnectDeadline } from "../limits/connect-deadline.ts";
import { createFrameCounts, type FrameCounts } from "../limits/frame-rates.ts";

/** Why a socket is closed: with the limit that it met, and when its client may come back. */
export type Closing = { reason: CloseReason; limit?: string | undefined; retryAfterSeconds?: number | undefined };

/** What a WebSocket carries from its upgrade to its close. */
export type SocketState = {
  readonly id: string;
  readonly address: string;
  /** Closes with the socket. */
  readonly owner: Owner;
  /** The session that a header on the upgrade opened, or why the socket is closed at once. */
  readonly opening: { session: Session } | Closing | undefined;
  /** There from its first moment to its close. */
  line: SocketLine | undefined;
  /** There once it has a session. */
  user: { connection: SocketConnection; timer: SessionTimer } | undefined;
  /** The end of the work on earlier frames: frames are answered one after another. */
  work: Promise<void>;
  /** What it sent of late. */
  readonly counts: FrameCounts;
  /** There with the line. */
  deadline: ConnectDeadline | undefined;
  /** Whether anything was heard since the last ping. */
  isAlive: boolean;
  /** Bytes that waited for it when this was last looked at. */
  waitingBytes: number;
  /** How often some of them were taken. */
  takings: number;
  /** Called when the socket has bytes free again, or is gone. */
  onDrain: (() => void)[];
};

/** A WebSocket of Herald's. */
export type Socket = ServerWebSocket<SocketState>;

const openState = 1;

/** The line of a WebSocket, from its opening. `write` sends frames to this socket alone, in order. */
export type SocketLine = Line & { write(frames: string[]): void };

/** The state of a socket that opens now. */
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
    work: Promise.resolve(),
    counts: createFrameCounts(now),
    deadline: undefined,
    isAlive: true,
    waitingBytes: 0,
    takings: 0,
    onDrain: [],
  };
}

/** Closes a socket with a code of the catalogue. */
export function closeSocket(socket: Socket, { reason, limit, retryAfterSeconds }: Closing): void {
  const { code, meaning } = closeCodes[reason];
  const what = limit === undefined ? meaning : `${meaning} (${limit})`;
  socket.close(code, retryAfterSeconds === undefined ? what : `${what}; retry in ${retryAfterSeconds} s`);
}

/** The socket took some of what waits: who waits for that goes on. */
export function noteTaken(data: SocketState): void {
  data.takings++;
  for (const resume of data.onDrain.splice(0)) resume();
}

/** The line of a socket that has just opened. `onWaiting` is called when bytes wait that were written to it alone. */
export function createSocketLine(socket: Socket, onWaiting: (line: SocketLine) => void): SocketLine {
  const line: SocketLine = {
    owner: socket.data.owner,
    get isOpen() {
      return socket.readyState === openState;
    },
    get org() {
      return socket.data.user?.connection.org;
    },
    get takings() {
      return socket.data.takings;
    },
    waitingBytes() {
      const { data } = socket;
      const before = data.waitingBytes;
      data.waitingBytes = socket.getBufferedAmount();
      // Whatever is written takes along what waits when the socket has room again, and then there is no `drain` (Bun 1.4.5).
      if (data.waitingBytes < before) noteTaken(data);
      return data.waitingBytes;
    },
    write(frames) {
      socket.cork(() => {
        for (const frame of frames) socket.sendText(frame);
      });
      // Within a cork `sendText` speaks of the cork's own room, and not of what the socket takes in the end (Bun 1.4.5).
      if (socket.getBufferedAmount() > 0) onWaiting(line);
    },
    end: (reason) => closeSocket(socket, { reason }),
    cut: () => socket.terminate(),
  };
  return line;
}

/** What tells the token that holds a connection open. */
type TokenOfSession = Pick<Session, "issuedAt" | "tokenId">;

/** The connection of a user over a WebSocket. From `extend` on another token holds it open. */
export type SocketConnection = Connection & { extend(token: TokenOfSession): void };

/** The connection of a session that a socket opened. */
export function createSocketConnection(
  socket: Socket,
  line: SocketLine,
  session: Session,
  device: string | undefined,
): SocketConnection {
  let token: TokenOfSession = session;
  return {
    id: socket.data.id,
    org: session.org,
    uid: session.uid,
    device,
    get issuedAt() {
      return token.issuedAt;
    },
    get tokenId() {
      return token.tokenId;
    },
    extend(next) {
      token = next;
    },
    owner: line.owner,
    get isOpen() {
      return line.isOpen;
    },
    get takings() {
      return line.takings;
    },
    waitingBytes: line.waitingBytes,
    end: line.end,
    cut: line.cut,
    deliver: (events) => line.write(events.map(({ payload }) => payload)),
    async isReadyForMore() {
      while (line.isOpen && line.waitingBytes() > comfortableBytes) {
        await new Promise<void>((resolve) => socket.data.onDrain.push(resolve));
      }
      return line.isOpen;
    },
    subscribe(topic) {
      if (line.isOpen) socket.subscribe(topic);
    },
    unsubscribe(topic) {
      if (line.isOpen) socket.unsubscribe(topic);
    },
  };
}
