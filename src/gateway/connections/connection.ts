import type { CloseReason } from "../../contract/connections/close-codes.ts";
import type { LogEvent } from "../../contract/messages/log-event.ts";
import type { Owner } from "../../lib/owner.ts";

/** Bytes that may wait for a reader that keeps up. */
export const comfortableBytes = 256 * 1024;

/** What carries a connection: a WebSocket, a server-sent event stream or a feed. What is taken for it belongs to its owner, which closes with it. */
export type Line = {
  readonly owner: Owner;
  readonly isOpen: boolean;
  /** The organization that it counts for, once that is known. */
  readonly org: string | undefined;
  /** Bytes that this process holds because the socket has not taken them; what the kernel has taken is not among them. */
  waitingBytes(): number;
  /** Rises whenever the socket takes some of what waits. */
  readonly takings: number;
  /** Closes it and says why. */
  end(reason: CloseReason): void;
  /** Ends it at once, without a word. */
  cut(): void;
};

/** A user's connection, whatever carries it. */
export type Connection = Line & {
  readonly id: string;
  readonly org: string;
  readonly uid: string;
  /** What the client calls the device that it runs on, if it does. */
  readonly device?: string | undefined;
  /** When the token that holds it open was issued, in milliseconds. */
  readonly issuedAt: number;
  /** The `jti` of that token, if it has one. */
  readonly tokenId?: string | undefined;
  /** Writes events to this connection alone, in order. */
  deliver(events: Pick<LogEvent, "kind" | "id" | "payload">[]): void;
  /** Resolves with true when little waits to be taken, with false when the connection is gone. */
  isReadyForMore(): Promise<boolean>;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
};
