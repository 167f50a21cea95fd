import type { Line } from "../connections/connection.ts";
import type { Timer } from "../connections/heartbeat.ts";

const connectWithinMs = 10_000;

/** The time within which a socket must have a session. */
export type ConnectDeadline = {
  /** Does what may open the session. Meanwhile the time may run out; the socket is closed for that only if there is no session after it. */
  during(work: () => Promise<void>): Promise<void>;
  /** There is a session: the time does not count any more. */
  meet(): void;
};

/** A deadline that begins now. */
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
