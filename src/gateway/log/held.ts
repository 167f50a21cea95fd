import type { LogEvent, LogPlace } from "../../contract/messages/log-event.ts";
import { type Budget, weightOf } from "./budget.ts";
import { type Chain, logChain } from "./chain.ts";

const maxHeld = 1024;
const maxHeldBytes = 4 * 1024 * 1024;

/** Events that came too early. */
export type Held = {
  /** What does not fit is not kept: it is read from the store when its turn comes. */
  add(event: LogEvent): void;
  /** Takes out the event that follows a place. One that has the next offset and is of another log is forgotten. */
  takeNext(place: LogPlace): LogEvent | undefined;
  /** Takes out what is not early any more. */
  forgetUpTo(offset: number): LogEvent[];
  /** A read of the log begins. */
  beginRead(): void;
  /** Forgets what lies beyond the head that the read found and was there before it began: a log that holds it no more has lost it. */
  forgetBeyond(head: number): void;
};

/** Holds at most 1,024 events and about 4 MiB of them, and nothing more while the budget is spent. */
export function createHeld(budget: Budget, { follows }: Pick<Chain, "follows"> = logChain): Held {
  const events = new Map<number, LogEvent>();
  const old = new Set<number>(); // the offsets of those that were there before the read began
  let bytes = 0;

  function take(offset: number): LogEvent | undefined {
    const event = events.get(offset);
    if (event === undefined) return undefined;
    events.delete(offset);
    old.delete(offset);
    bytes -= weightOf(event);
    budget.giveBack(weightOf(event));
    return event;
  }

  return {
    add(event) {
      if (events.has(event.offset) || events.size >= maxHeld || bytes >= maxHeldBytes || budget.isSpent) return;
      events.set(event.offset, event);
      bytes += weightOf(event);
      budget.hold(weightOf(event));
    },
    takeNext(place) {
      const event = take(place.offset + 1);
      return event !== undefined && follows(event, place) ? event : undefined;
    },
    forgetUpTo(offset) {
      const early: LogEvent[] = [];
      for (const heldAt of events.keys()) {
        const event = heldAt <= offset ? take(heldAt) : undefined;
        if (event !== undefined) early.push(event);
      }
      return early;
    },
    beginRead() {
      for (const offset of events.keys()) old.add(offset);
    },
    forgetBeyond(head) {
      for (const offset of old) if (offset > head) take(offset);
      old.clear();
    },
  };
}
