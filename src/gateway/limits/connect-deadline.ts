import type { Line } from "../connections/connection.ts";
import type { Timer } from "../connections/heartbeat.ts";

const connectWithinMs = 10_000;

/** The time a socket has to open a session. */
export type ConnectDeadline = {
  /**
   * Runs work that may open the session. If the deadline passes meanwhile, the socket is closed afterwards, and only if
   * there is still no session.
   */
  during(work: () => Promise<void>): Promise<void>;
  /** A session is open: cancels the deadline. */
  meet(): void;
};

/** Starts a deadline now. */
export function createConnectDeadline(line: Line, timer: Timer): ConnectDeadline {
  let isMet = false;
  let isOver = false;
  let isAtWork = false;

  function endIfOver(): void {
    if (isOver && !isMet && !isAtWork) line.end("connect_timeout");
  }

  timer(connectWithinMs, () => {
    isOver = true;
    endIfOver();
  });
  return {
    async during(work) {
      isAtWork = true;
      try {
        await work();
      } finally {
        isAtWork = false;
        endIfOver();
      }
    },
    meet() {
      isMet = true;
    },
  };
}
