import type { CloseReason } from "../../contract/connections/close-codes.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import { spread } from "../../lib/time/spread.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { Line } from "./connection.ts";

const transports = ["websocket", "sse", "feed"] as const;

/** The protocol of a line. */
export type Transport = (typeof transports)[number];

/** The open lines of this node. */
export type Register = {
  /** Keeps a line until its owner closes. */
  add(transport: Transport, line: Line): void;
  /** Throws `unavailable` once the node has begun to close its lines. */
  requireOpen(): void;
  readonly isClosing: boolean;
  count(transport: Transport): number;
  /**
   * Ends all lines, spread evenly over a time that grows with their number up to `longestMs`, so that clients do not
   * all reconnect at once.
   */
  closeAll(reason: CloseReason, options: { perLineMs: number; longestMs: number }): Promise<void>;
};

/** Creates an empty register. */
export function createRegister({ backlog }: { backlog: Pick<Backlog, "forget"> }): Register {
  const lines = { websocket: new Set<Line>(), sse: new Set<Line>(), feed: new Set<Line>() };
  let isClosing = false;

  return {
    add(transport, line) {
      lines[transport].add(line);
      line.owner.hold(() => {
        lines[transport].delete(line);
        backlog.forget(line);
      });
    },
    requireOpen() {
      if (isClosing) throw unavailable({ detail: "this node is shutting down; connect to another one" });
    },
    get isClosing() {
      return isClosing;
    },
    count: (transport) => lines[transport].size,
    async closeAll(reason, { perLineMs, longestMs }) {
      isClosing = true;
      const all = transports.flatMap((transport) => [...lines[transport]]);
      await spread(all, Math.min(longestMs, all.length * perLineMs), (line) => line.end(reason));
    },
  };
}
