import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPlace } from "../../contract/log/log-place.ts";
import { type Budget, weightOf } from "./budget.ts";
import { type Chain, logChain } from "./chain.ts";

const maxHeld = 1024;
const maxHeldBytes = 4 * 1024 * 1024;

/**
 * Creates an empty store for events that arrive ahead of their turn: at most 1,024 of them and about 4 MiB, and no more while
 * the budget is spent.
 */
export function createHeld(budget: Budget, { follows }: Pick<Chain, "follows"> = logChain) {
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
    /** Keeps an event if there is room; otherwise it is read from the store when its turn comes. */
    add(event: LogEvent): void {
      if (events.has(event.offset) || events.size >= maxHeld || bytes >= maxHeldBytes || budget.isSpent) return;
      events.set(event.offset, event);
      bytes += weightOf(event);
      budget.hold(weightOf(event));
    },
    /**
     * Removes and returns the event that follows a place. An event with the next offset but from another log is dropped.
     */
    takeNext(place: LogPlace): LogEvent | undefined {
      const event = take(place.offset + 1);
      return event !== undefined && follows(event, place) ? event : undefined;
    },
    /** Removes and returns the events up to `offset`, which are no longer early. */
    forgetUpTo(offset: number): LogEvent[] {
      const early: LogEvent[] = [];
      for (const heldAt of events.keys()) {
        const event = heldAt <= offset ? take(heldAt) : undefined;
        if (event !== undefined) early.push(event);
      }
      return early;
    },
    /** Called when a read of the log begins. */
    beginRead(): void {
      for (const offset of events.keys()) old.add(offset);
    },
    /** Drops events beyond the head found by a read if they were held before it began: the log has lost them. */
    forgetBeyond(head: number): void {
      for (const offset of old) if (offset > head) take(offset);
      old.clear();
    },
  };
}
