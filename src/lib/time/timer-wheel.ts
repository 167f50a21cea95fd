import { createGuard } from "../observing/guard.ts";
import type { Clock } from "./clock.ts";

/** Many timers that need not be exact, such as the heartbeats of connections. Those that are not due cost nothing. */
export type TimerWheel = {
  /** Calls `act` when `ms` are over, at the second turn after that at the latest. Gives the function that cancels it, at any time. */
  after(ms: number, act: () => void): () => void;
  /** Calls what is due. To be called once for each tick; what was missed is made up for. */
  turn(): void;
  /** How many timers are set. */
  readonly size: number;
};

type Timer = () => void;

type Options = {
  clock: Clock;
  tickMs: number;
  /** Told what a timer throws, once a second at most: the others are called all the same. */
  onError(error: unknown): void;
};

/** A wheel with a slot for each tick of `tickMs` in which something is due. */
export function createTimerWheel({ clock, tickMs, onError }: Options): TimerWheel {
  const guard = createGuard(onError);
  const slots = new Map<number, Set<Timer>>();
  let turned = tickOf(clock.now()); // everything that was due up to this tick was called
  let size = 0;

  function tickOf(ms: number): number {
    return Math.floor(ms / tickMs);
  }

  function callAll(slot: Set<Timer>): void {
    for (const timer of slot) {
      slot.delete(timer); // one that is cancelled by another before its turn is not there any more
      size--;
      guard(timer);
    }
  }

  return {
    after(ms, act) {
      const tick = Math.max(turned, tickOf(clock.now() + ms)) + 1;
      const slot = slots.get(tick) ?? new Set();
      slots.set(tick, slot);
      const timer = () => act(); // its own, so that the same `act` can be set twice
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
