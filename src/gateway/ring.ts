import type { LogEvent } from "../contract/log-event.ts";

const maxEvents = 1024;
const maxBytes = 4 * 1024 * 1024;

/** The events that were played last, for connections that join. */
export type Ring = {
  push(event: LogEvent): void;
  /** The events after `offset` in order, or `undefined` when the ring no longer reaches back that far. */
  after(offset: number): LogEvent[] | undefined;
};

/** Begins after `position`. Holds at most 1,024 events and about 4 MiB of them. */
export function createRing(position: number): Ring {
  let events: LogEvent[] = [];
  let bytes = 0;
  let before = position; // the ring holds everything after this offset

  function cut(): void {
    let count = 0;
    while (events.length - count > maxEvents / 2 || bytes > maxBytes / 2) {
      const oldest = events[count];
      if (oldest === undefined) break;
      bytes -= oldest.payload.length;
      before = oldest.offset;
      count++;
    }
    events = events.slice(count);
  }

  return {
    push(event) {
      events.push(event);
      bytes += event.payload.length;
      if (events.length > maxEvents || bytes > maxBytes) cut();
    },
    after(offset) {
      if (offset < before) return undefined;
      return events.filter((event) => event.offset > offset);
    },
  };
}
