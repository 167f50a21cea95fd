import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPlace } from "../../contract/log/log-place.ts";
import { recalledIn, textIn } from "../fanout/event-facts.ts";
import { type Budget, type Holder, weightOf } from "./budget.ts";

const maxEvents = 1024;
const maxBytes = 4 * 1024 * 1024;

/** The events played last, for joining connections. */
export type Ring = Holder & {
  /** Adds an event; a recall removes its texts from the ring. */
  push(event: LogEvent): void;
  /** The events after `offset` in order, or `undefined` if the ring no longer reaches back that far. */
  after(offset: number): LogEvent[] | undefined;
  /** The id of the event at an offset, if the ring holds it. */
  idAt(offset: number): string | undefined;
  /** Drops what was played before a time, in milliseconds of `performance.now()`. */
  forgetBefore(time: number): void;
};

type Played = { event: LogEvent; at: number; weight: number };

/**
 * Creates a ring that begins after a place. Holds at most 1,024 events and about 4 MiB, and less if the shared budget
 * is spent.
 */
export function createRing(start: LogPlace, budget: Budget): Ring {
  let played: Played[] = [];
  let weight = 0;
  let before = start; // the ring holds everything after this place

  function forgetFirst(count: number): void {
    const last = played[count - 1]?.event;
    if (last === undefined) return;
    const freed = played.slice(0, count).reduce((sum, one) => sum + one.weight, 0);
    before = { offset: last.offset, id: last.id };
    played = played.slice(count);
    weight -= freed;
    budget.giveBack(freed);
  }

  /** Drops half at once, so that not every new event moves all the others. */
  function cut(): void {
    let count = 0;
    for (let left = weight; played.length - count > maxEvents / 2 || left > maxBytes / 2; count++)
      left -= played[count]?.weight ?? left;
    forgetFirst(count);
  }

  function blank(one: Played): Played {
    const event: LogEvent = { ...one.event, kind: "blank", payload: "" };
    const left = weightOf(event);
    weight -= one.weight - left;
    budget.giveBack(one.weight - left);
    return { ...one, event, weight: left };
  }

  const ring: Ring = {
    get bytes() {
      return weight;
    },
    push(event) {
      const recalled = recalledIn(event);
      if (recalled !== undefined)
        played = played.map((one) => (recalled.has(textIn(one.event) ?? "") ? blank(one) : one));
      const added = weightOf(event);
      played.push({ event, at: performance.now(), weight: added });
      weight += added;
      if (played.length > maxEvents || weight > maxBytes) cut();
      budget.take(added, ring);
    },
    after(offset) {
      if (offset < before.offset) return undefined;
      return played.flatMap(({ event }) => (event.offset > offset ? [event] : []));
    },
    idAt(offset) {
      if (offset === before.offset) return before.id;
      const [first] = played;
      if (first === undefined || offset < first.event.offset) return undefined;
      const likely = played[offset - first.event.offset]?.event; // holes are rare
      if (likely?.offset === offset) return likely.id;
      return played.find(({ event }) => event.offset === offset)?.event.id;
    },
    forgetBefore(time) {
      const count = played.findIndex(({ at }) => at >= time);
      forgetFirst(count === -1 ? played.length : count);
    },
    clear() {
      forgetFirst(played.length);
      budget.leave(ring);
    },
  };
  return ring;
}
