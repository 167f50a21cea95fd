import { isUuidV7 } from "../../lib/text/ids.ts";
import type { LogEvent } from "./log-event.ts";

/**
 * A position in a log: an offset and the id of the event there. The offset alone is not enough, because a failover can put
 * another event at the same offset. At offset 0, before the first event, the id is `""`. An unknown id is `undefined`.
 */
export type LogPlace = { offset: number; id: string | undefined };

/** The position before the first event, and the head of an organization that does not exist. */
export const logStart: LogPlace = { offset: 0, id: "" };

/** The cursor of a place: the `id:` of an event in the feed of its organization, such as `4711-019aa8c4-…`. */
export function cursorOf({ offset, id = "" }: LogPlace): string {
  return `${offset}-${id}`;
}

const cursor = /^(0|[1-9]\d{0,14})-(.*)$/s;

/** The place that a cursor names; `undefined` if it is none. */
export function placeIn(text: string): { offset: number; id: string } | undefined {
  const [, digits, id = ""] = cursor.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const offset = Number(digits);
  return (offset === 0 ? id === "" : isUuidV7(id)) ? { offset, id } : undefined;
}

/** A range of a log, read in one statement. */
export type LogPage = {
  head: LogPlace;
  /** The id of the event at the offset that the read started from; `undefined` if there is no event, or no longer one. */
  anchor: string | undefined;
  /** The events after that offset, in order. */
  events: LogEvent[];
};
