import type { LogPage, LogPlace } from "../../contract/messages/log-event.ts";

/** How the events of a log hang together: each has the next offset, and names the id of the one before it. */
export type Chain = {
  /** Whether an event comes right after a place. */
  follows(event: { offset: number; prev?: string | undefined }, place: LogPlace): boolean;
  /** Whether a page that was read from a place begins with the event that is known to stand there. */
  isSameLog(from: LogPlace, page: Pick<LogPage, "anchor" | "head">): boolean;
};

/** The chain that every log is. */
export const logChain: Chain = {
  follows: ({ offset, prev }, last) => offset === last.offset + 1 && prev !== undefined && prev === last.id,
  isSameLog(from, { anchor, head }) {
    if (anchor !== undefined) return from.id === undefined || anchor === from.id;
    // Nothing stands there. Only old events are ever removed, so if the log goes on, this one was purged, and it is the log that was
    // played: another one would have had to grow that far and become old between two looks at its head.
    if (head.offset !== from.offset) return head.offset > from.offset;
    return from.id === undefined || head.id === undefined || head.id === from.id;
  },
};
