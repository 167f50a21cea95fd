import { createGuard } from "../observing/guard.ts";
import type { Clock } from "./clock.ts";

/** Many imprecise timers, such as heartbeats. Timers that are not due cost nothing. */
export type TimerWheel = {
  /** Calls `act` after `ms`, at the second turn after that at the latest. Returns the function that cancels it. */
  after(ms: number, act: () => void): () => void;
  /** Calls the timers that are due. Call it once per tick; missed ticks are caught up. */
  turn(): void;
  /** The number of timers set. */
  readonly size: number;
};

type Timer = { act(): void };

type Options = {
  clock: Clock;
  tickMs: number;
  /** Called with what a timer throws, at most once a second; the other timers still run. */
  onError(error: unknown): void;
};

/** Creates a wheel with one slot per tick in which a timer is due. */
export function createTimerWheel({ clock, tickMs, onError }: Options): TimerWheel {
  const guard = createGuard(onError);
  const slots = new Map<number, Set<Timer>>();
  let turned = tickOf(clock.now()); // all timers up to this tick have been called
  let size = 0;

  function tickOf(ms: number): number {
    return Math.floor(ms / tickMs);
  }

  function callAll(slot: Set<Timer>): void {
    for (const timer of slot) {
      slot.delete(timer); // before calling it; a timer cancelled by an earlier one is no longer in the slot
      size--;
      guard(timer.act);
    }
  }

  return {
    after(ms, act) {
      const tick = Math.max(turned, tickOf(clock.now() + ms)) + 1;
      const slot = slots.get(tick) ?? new Set();
      slots.set(tick, slot);
      const timer = { act }; // a new object, so that the same `act` can be set twice
      slot.add(timer);
      size++;
      return () => {
        if (slot.delete(timer)) size--;
        if (slot.size === 0 && slots.get(tick) === slot) slots.delete(tick);
      };
    },
    turn() {
      const now = tickOf(clock.now());
      while (turned < now) {
        turned++;
        const slot = slots.get(turned);
        slots.delete(turned);
        if (slot !== undefined) callAll(slot);
      }
    },
    get size() {
      return size;
    },
  };
}
