import type { CloseReason } from "../../contract/connections/close-codes.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import type { Owner } from "../../lib/owner.ts";

/** Bytes that may be waiting for a reader that still counts as keeping up. */
export const comfortableBytes = 256 * 1024;

/**
 * The transport of a connection: a WebSocket, a server-sent event stream or a feed. Everything taken for it belongs to
 * its owner, which closes with it.
 */
export type Line = {
  readonly owner: Owner;
  readonly isOpen: boolean;
  /** The organization it counts towards, once known. */
  readonly org: string | undefined;
  /** Bytes this process holds because the socket has not taken them; bytes in the kernel's buffers do not count. */
  waitingBytes(): number;
  /** Increases whenever the socket takes some of the waiting bytes. */
  readonly takings: number;
  /** Closes the line and tells the client why. */
  end(reason: CloseReason): void;
  /** Ends the line at once, without a close code. */
  cut(): void;
  /**
   * Drops those of the named texts that wait for the reader, unless they are partly written. Absent where the transport itself
   * holds what waits, as Bun does for WebSockets.
   */
  withdraw?(texts: ReadonlySet<string>): void;
};

/** Where a connection comes from, and since when. */
export type Arrival = {
  transport: "websocket" | "sse";
  /** As `networkOf` names it. */
  address: string;
  /** The beginning of its `User-Agent`. */
  client: string | undefined;
  /** Milliseconds since the Unix epoch. */
  since: number;
};

const mostOfClient = 200;

/** What a request says of its client. */
export function clientOf({ headers }: Pick<Request, "headers">): string | undefined {
  return headers.get("user-agent")?.slice(0, mostOfClient) || undefined;
}

/** A user's connection, over any transport. */
export type Connection = Line & {
  readonly id: string;
  readonly org: string;
  readonly uid: string;
  /** The client's name for its device, if it gave one. */
  readonly device?: string | undefined;
  /** When the token that holds the connection open was issued, in milliseconds since the Unix epoch. */
  readonly issuedAt: number;
  /** The `jti` of that token, if it has one. */
  readonly tokenId?: string | undefined;
  readonly arrival: Arrival;
  /** Writes events, in order, to this connection only. */
  deliver(events: Pick<LogEvent, "kind" | "id" | "payload">[]): void;
  /** Writes frames, in order, to this connection only. Absent on streams, which carry only events of the log. */
  write?(frames: string[]): void;
  /** Resolves to true once few bytes are waiting, or to false if the connection is gone. */
  isReadyForMore(): Promise<boolean>;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
};
