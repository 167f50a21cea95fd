import type { CloseReason } from "../contract/close-codes.ts";
import type { LogEvent } from "../contract/log-event.ts";

/** What the gateway needs of a connection, whether it is a WebSocket or a server-sent event stream. */
export type Connection = {
  readonly id: string;
  readonly org: string;
  readonly uid: string;
  /** What the client calls the device that it runs on, if it does. */
  readonly device?: string | undefined;
  /** When the token that holds it open was issued, in milliseconds. */
  readonly issuedAt: number;
  readonly isOpen: boolean;
  /** Writes events to this connection alone, in order. */
  deliver(events: Pick<LogEvent, "kind" | "payload">[]): void;
  /** Resolves with true when little waits to be taken, with false when the connection is gone. */
  isReadyForMore(): Promise<boolean>;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Closes it and says why. */
  end(reason: CloseReason): void;
};
