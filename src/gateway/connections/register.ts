import type { CloseReason } from "../../contract/connections/close-codes.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import { spread } from "../../lib/time/spread.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { Line } from "./connection.ts";

const transports = ["websocket", "sse", "feed"] as const;

/** The protocol of a line. */
export type Transport = (typeof transports)[number];

/** Creates an empty register. */
export function createRegister({ backlog }: { backlog: Pick<Backlog, "forget"> }) {
  const lines = { websocket: new Set<Line>(), sse: new Set<Line>(), feed: new Set<Line>() };
  let isClosing = false;

  return {
    /** Keeps a line until its owner closes. */
    add(transport: Transport, line: Line): void {
      lines[transport].add(line);
      line.owner.hold(() => {
        lines[transport].delete(line);
        backlog.forget(line);
      });
    },
    /** Throws `unavailable` once the node has begun to close its lines. */
    requireOpen(): void {
      if (isClosing) throw unavailable({ detail: "this node is shutting down; connect to another one" });
    },
    get isClosing(): boolean {
      return isClosing;
    },
    count: (transport: Transport): number => lines[transport].size,
    /**
     * Ends all lines, spread evenly over a time that grows with their number up to `longestMs`, so that clients do not
     * all reconnect at once.
     */
    async closeAll(
      reason: CloseReason,
      { perLineMs, longestMs }: { perLineMs: number; longestMs: number },
    ): Promise<void> {
      isClosing = true;
      const all = transports.flatMap((transport) => [...lines[transport]]);
      await spread(all, Math.min(longestMs, all.length * perLineMs), (line) => line.end(reason));
    },
  };
}

/** The open lines of this node. */
export type Register = ReturnType<typeof createRegister>;
