import type { ServerWebSocket } from "bun";
import { type CloseReason, closeCodes } from "../contract/close-codes.ts";
import type { Session } from "../services/sessions.ts";
import type { Connection } from "./connection.ts";
import type { SessionTimer } from "./session-timer.ts";

/** What a WebSocket carries from its upgrade to its close. */
export type SocketState = {
  readonly id: string;
  readonly address: string;
  /** Whether it counts among the connections of its address. */
  readonly isCounted: boolean;
  /** The session that a header on the upgrade opened, or why the socket is closed at once. */
  readonly opening: { session: Session } | { refusal: CloseReason } | undefined;
  connection: SocketConnection | undefined;
  /** The end of the work on earlier frames: frames are answered one after another. */
  work: Promise<void>;
  /** Requests since `windowStart`, in milliseconds. */
  requests: number;
  windowStart: number;
  connectTimer: ReturnType<typeof setTimeout> | undefined;
  sessionTimer: SessionTimer | undefined;
  /** When the last ping was sent, and whether it was answered; in milliseconds. */
  pingedAt: number;
  isAlive: boolean;
  /** Bytes that waited for it when this was last looked at. */
  waitingBytes: number;
  /** Called when the socket has bytes free again, or is gone. */
  onDrain: (() => void)[];
};

/** A WebSocket of Herald's. */
export type Socket = ServerWebSocket<SocketState>;

const comfortableBytes = 256 * 1024;
const openState = 1;

/** Closes a socket with a code of the catalogue. */
export function closeSocket(socket: Socket, reason: CloseReason): void {
  const { code, meaning } = closeCodes[reason];
  socket.close(code, meaning);
}

/** A connection over a WebSocket. `extend` is told when the token was issued that it goes on with. */
export type SocketConnection = Connection & { extend(issuedAt: number): void };

/** The connection of a session that a socket opened. */
export function createSocketConnection(socket: Socket, session: Session, device: string | undefined): SocketConnection {
  let issuedAt = session.issuedAt;
  return {
    id: socket.data.id,
    org: session.org,
    uid: session.uid,
    device,
    get issuedAt() {
      return issuedAt;
    },
    extend(newIssuedAt) {
      issuedAt = newIssuedAt;
    },
    get isOpen() {
      return socket.readyState === openState;
    },
    deliver(events) {
      socket.cork(() => {
        for (const { payload } of events) socket.sendText(payload);
      });
    },
    async isReadyForMore() {
      while (socket.readyState === openState && socket.getBufferedAmount() > comfortableBytes) {
        await new Promise<void>((resolve) => socket.data.onDrain.push(resolve));
      }
      return socket.readyState === openState;
    },
    subscribe(topic) {
      if (socket.readyState === openState) socket.subscribe(topic);
    },
    unsubscribe(topic) {
      if (socket.readyState === openState) socket.unsubscribe(topic);
    },
    end(reason) {
      closeSocket(socket, reason);
    },
  };
}
