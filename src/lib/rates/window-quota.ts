import type { SteadyClock } from "../time/clock.ts";
import { amountOf } from "./amount.ts";

/** Tracks each name's use of a quota, in a time window that begins with its first use. */
export type WindowQuotas = {
  /** Uses some of the quota, even more than is left: using it twice over makes the window last twice as long. */
  use(name: string, amount: number): void;
  /** Milliseconds until the window ends, for a name that has used up its quota; 0 while some is left. */
  waitMs(name: string): number;
  /** The number of names whose windows have not ended, at most `maxNames`. */
  readonly size: number;
};

type Options = {
  quota: number;
  windowMs: number;
  clock: SteadyClock;
  maxNames?: number;
};

type Window = { used: number; startedAt: number };

/** Creates unused quotas. Beyond `maxNames`, the window that began first is forgotten. */
export function createWindowQuotas({ quota, windowMs, clock, maxNames = 100_000 }: Options): WindowQuotas {
  const windows = new Map<string, Window>(); // in the order in which they began

  const endOf = ({ used, startedAt }: Window) => startedAt + windowMs * Math.max(1, used / quota);

  function current(name: string): Window | undefined {
    const window = windows.get(name);
    if (window === undefined || clock.now() < endOf(window)) return window;
    windows.delete(name);
    return undefined;
  }

  /** Removes ended windows; one that lasts longer may delay the removal of those behind it. */
  function forgetEnded(): void {
    for (const [name, window] of windows) {
      if (windows.size <= maxNames && clock.now() < endOf(window)) return;
      windows.delete(name);
    }
  }

  return {
    use(name, amount) {
      const more = amountOf(amount);
      if (quota === Number.POSITIVE_INFINITY) return;
      const window = current(name);
      if (window !== undefined) {
        window.used += more;
        return;
      }
      windows.set(name, { used: more, startedAt: clock.now() });
      forgetEnded();
    },
    waitMs(name) {
      const window = current(name);
      return window === undefined || window.used < quota ? 0 : endOf(window) - clock.now();
    },
    get size() {
      return windows.size;
    },
  };
}
