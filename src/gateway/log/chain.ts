import type { LogPage, LogPlace } from "../../contract/log/log-place.ts";

/** How the events of a log are linked: each has the next offset and names the id of its predecessor. */
export type Chain = {
  /** Whether an event comes directly after a place. */
  follows(event: { offset: number; prev?: string | undefined }, place: LogPlace): boolean;
  /** Whether a page read from a place belongs to the same log, judged by the id that stands there now. */
  isSameLog(from: LogPlace, page: Pick<LogPage, "anchor" | "head">): boolean;
};

/** The chain of every log. */
export const logChain: Chain = {
  follows: ({ offset, prev }, last) => offset === last.offset + 1 && prev !== undefined && prev === last.id,
  isSameLog(from, { anchor, head }) {
    if (anchor !== undefined) return from.id === undefined || anchor === from.id;
    // Nothing stands there. Only old events are removed, so if the log continues, this event was purged and the log is
    // the one that was played: a different log would have had to grow that far and age between two head checks.
    if (head.offset !== from.offset) return head.offset > from.offset;
    return from.id === undefined || head.id === undefined || head.id === from.id;
  },
};
