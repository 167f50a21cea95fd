import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPlace } from "../../contract/log/log-place.ts";
import { type Budget, weightOf } from "./budget.ts";
import { type Chain, logChain } from "./chain.ts";

const maxHeld = 1024;
const maxHeldBytes = 4 * 1024 * 1024;

/** Events that arrived ahead of their turn. */
export type Held = {
  /** Keeps an event if there is room; otherwise it is read from the store when its turn comes. */
  add(event: LogEvent): void;
  /**
   * Removes and returns the event that follows a place. An event with the next offset but from another log is dropped.
   */
  takeNext(place: LogPlace): LogEvent | undefined;
  /** Removes and returns the events up to `offset`, which are no longer early. */
  forgetUpTo(offset: number): LogEvent[];
  /** Called when a read of the log begins. */
  beginRead(): void;
  /** Drops events beyond the head found by a read if they were held before it began: the log has lost them. */
  forgetBeyond(head: number): void;
};

/** Creates an empty store of at most 1,024 events and about 4 MiB, which takes nothing while the budget is spent. */
export function createHeld(budget: Budget, { follows }: Pick<Chain, "follows"> = logChain): Held {
  const events = new Map<number, LogEvent>();
  const old = new Set<number>(); // offsets held before the current read began
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
