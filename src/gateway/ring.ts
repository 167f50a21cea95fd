import type { LogEvent, LogPlace } from "../contract/log-event.ts";

const maxEvents = 1024;
const maxBytes = 4 * 1024 * 1024;

/** The events that were played last, for connections that join. */
export type Ring = {
  push(event: LogEvent): void;
  /** The events after `offset` in order, or `undefined` when the ring no longer reaches back that far. */
  after(offset: number): LogEvent[] | undefined;
  /** The id of the event at an offset, if it is here. */
  idAt(offset: number): string | undefined;
};

/** Begins after a place. Holds at most 1,024 events and about 4 MiB of them. */
export function createRing(start: LogPlace): Ring {
  let events: LogEvent[] = [];
  let bytes = 0;
  let before = start; // the ring holds everything after this place

  function cut(): void {
    let count = 0;
    while (events.length - count > maxEvents / 2 || bytes > maxBytes / 2) {
      const oldest = events[count];
      if (oldest === undefined) break;
      bytes -= oldest.payload.length;
      before = { offset: oldest.offset, id: oldest.id };
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
      if (offset < before.offset) return undefined;
      return events.filter((event) => event.offset > offset);
    },
    idAt(offset) {
      if (offset === before.offset) return before.id;
      const [first] = events;
      if (first === undefined || offset < first.offset) return undefined;
      const likely = events[offset - first.offset]; // there are hardly ever holes
      return likely?.offset === offset ? likely.id : events.find((event) => event.offset === offset)?.id;
    },
  };
}
