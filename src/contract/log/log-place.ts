import type { LogEvent } from "./log-event.ts";

/**
 * A position in a log: an offset and the id of the event there. The offset alone is not enough, because a failover can put
 * another event at the same offset. At offset 0, before the first event, the id is `""`. An unknown id is `undefined`.
 */
export type LogPlace = { offset: number; id: string | undefined };

/** The position before the first event, and the head of an organization that does not exist. */
export const logStart: LogPlace = { offset: 0, id: "" };

/** A range of a log, read in one statement. */
export type LogPage = {
  head: LogPlace;
  /** The id of the event at the offset that the read started from; `undefined` if there is no event, or no longer one. */
  anchor: string | undefined;
  /** The events after that offset, in order. */
  events: LogEvent[];
};
