import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { Sequencer } from "../log/sequencer.ts";
import { comfortableBytes, type Line } from "./connection.ts";

/** The bytes of a page, unless a single event is larger: few enough for a healthy reader to keep up. */
export const pageBytes = comfortableBytes;

/** A line that is given pages, and for whom. */
type Reading = Parameters<Backlog["hold"]>[0] & Pick<Line, "isOpen"> & { readonly org: string; readonly uid?: string };

type Dependencies = {
  backlog: Pick<Backlog, "hold">;
  /** Bounds how many pages are in memory, from read to handover. */
  reads: Pick<Limiter, "run">;
  thread: ThreadScheduler;
};

/** Hands over pages of a log. */
export type PageTurns = ReturnType<typeof createPageTurns>;

/** Creates what hands pages of logs to lines that are behind. */
export function createPageTurns({ backlog, reads, thread }: Dependencies) {
  return {
    /**
     * Reads a page when it is the line's turn, and hands it over if the line is still open. The page counts towards the line's
     * backlog from before the read until the handover; only a few pages are in memory at a time, however many lines wait. Rejects
     * if the log was rolled back.
     */
    async turnPage<Item extends { payload: string }>(
      line: Reading,
      sequencer: Pick<Sequencer, "verified">,
      read: () => Promise<Item[]>,
      handOver: (page: Item[]) => void,
    ): Promise<void> {
      const { owner, org, uid } = line;
      await reads.run(
        async () => {
          const letGo = backlog.hold(line, pageBytes);
          let letGoRest = () => {};
          try {
            const page = await read();
            letGoRest = backlog.hold(line, Math.max(0, bytesOf(page) - pageBytes)); // a single event may be larger than a page
            await sequencer.verified(); // no page may come from a different log than the pages before it
            await thread.turn(org, threadCosts.bytes(bytesOf(page)), uid === undefined ? {} : { part: uid });
            if (line.isOpen) handOver(page);
          } finally {
            letGo();
            letGoRest();
          }
        },
        { key: org, owner },
      );
    },
  };
}

/** The length of the texts of events, in characters. */
export function bytesOf(events: { payload: string }[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}
