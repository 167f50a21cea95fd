import type { ServerWebSocket } from "bun";
import { type CloseReason, closeCodes } from "../../contract/connections/close-codes.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { type Arrival, type Connection, comfortableBytes, type Line } from "../connections/connection.ts";
import type { Peer } from "../connections/heartbeat.ts";
import type { Expiring, SessionTimer } from "../connections/session-timer.ts";
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
  /** The beginning of its `User-Agent`. */
  readonly client: string | undefined;
  /** Where the client reached the server, if it told. */
  readonly publicOrigin: string | undefined;
  /** When it was opened, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** Closes with the socket. */
  readonly owner: Owner;
  /** Until it opens: the session opened by a header of the upgrade, or why the socket is closed at once. */
  opening: { session: Session } | Closing | undefined;
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

/** Creates the state of a new socket. */
export function createSocketState(
  {
    id,
    address,
    client,
    publicOrigin,
    since,
    owner,
    opening,
  }: Pick<SocketState, "id" | "address" | "client" | "publicOrigin" | "since" | "owner" | "opening">,
  now: number,
): SocketState {
  return {
    id,
    address,
    client,
    publicOrigin,
    since,
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

/** What the lines of all sockets share. */
export type SocketLineParts = {
  /** Called when bytes written to one socket alone are waiting. */
  onWaiting(line: SocketLine): void;
  socketTopics: Pick<SocketTopics, "add" | "remove">;
};

/** Identifies the token that holds a connection open. */
type TokenOfSession = Pick<Session, "issuedAt" | "tokenId">;

/** A user's connection over a WebSocket. After `extend`, another token holds it open. */
export type SocketConnection = SocketLine & Connection;

/**
 * The line of a socket from its opening, and its user's connection once `beSessionOf` is called. A class, as each connection has
 * one: closures would take several times the memory.
 */
export class SocketLine implements Line, Peer, Expiring {
  readonly #socket: Socket;
  readonly #parts: SocketLineParts;
  org: string | undefined;
  uid: string | undefined;
  device: string | undefined;
  issuedAt: number | undefined;
  tokenId: string | undefined;

  constructor(socket: Socket, parts: SocketLineParts) {
    this.#socket = socket;
    this.#parts = parts;
  }

  get id(): string {
    return this.#socket.data.id;
  }

  get publicOrigin(): string | undefined {
    return this.#socket.data.publicOrigin;
  }

  get arrival(): Arrival {
    const { address, client, since } = this.#socket.data;
    return { transport: "websocket", address, client, since };
  }

  get owner(): Owner {
    return this.#socket.data.owner;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === openState;
  }

  get takings(): number {
    return this.#socket.data.takings;
  }

  waitingBytes(): number {
    const { data } = this.#socket;
    const before = data.waitingBytes;
    data.waitingBytes = this.#socket.getBufferedAmount();
    // Any write also sends what is waiting if the socket has room again; then `drain` is not called (Bun 1.4.5).
    if (data.waitingBytes < before) noteTaken(data);
    return data.waitingBytes;
  }

  /** Sends frames, in order, to this socket only. */
  write(frames: string[]): void {
    const socket = this.#socket;
    socket.cork(() => {
      for (const frame of frames) socket.sendText(frame);
    });
    // Inside a cork, `sendText` reports the room of the cork, not of the socket (Bun 1.4.5).
    if (socket.getBufferedAmount() > 0) this.#parts.onWaiting(this);
  }

  end(reason: CloseReason): void {
    closeSocket(this.#socket, { reason });
  }

  cut(): void {
    this.#socket.terminate();
  }

  ping(): void {
    this.#socket.data.isAlive = false;
    this.#socket.ping();
  }

  /** Whether anything has arrived since the last ping. */
  isAlive(): boolean {
    return this.#socket.data.isAlive;
  }

  onExpiring(expiresAt: number): void {
    this.write([JSON.stringify({ session: { expires_at: toIso(expiresAt) } })]);
  }

  onExpired(): void {
    this.end("bad_token");
  }

  /** Makes the line the connection of the session that its socket opened. */
  beSessionOf({ org, uid, issuedAt, tokenId }: Session, device: string | undefined): SocketConnection {
    return Object.assign(this, { org, uid, issuedAt, tokenId, device });
  }

  extend({ issuedAt, tokenId }: TokenOfSession): void {
    this.issuedAt = issuedAt;
    this.tokenId = tokenId;
  }

  deliver(events: { payload: string }[]): void {
    this.write(events.map(({ payload }) => payload));
  }

  async isReadyForMore(): Promise<boolean> {
    while (this.isOpen && this.waitingBytes() > comfortableBytes) {
      await new Promise<void>((resolve) => this.#socket.data.onDrain.push(resolve));
    }
    return this.isOpen;
  }

  subscribe(topic: string): void {
    if (this.isOpen && this.org !== undefined) this.#parts.socketTopics.add(topic, this.org, this.#socket);
  }

  unsubscribe(topic: string): void {
    if (this.isOpen) this.#parts.socketTopics.remove(topic, this.#socket);
  }
}
