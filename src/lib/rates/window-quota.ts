import type { Clock } from "../time/clock.ts";

/** How much of a quota each name has used, in a window of time that begins with its first use. */
export type WindowQuotas = {
  /** Uses some of it, also more than is left: the window of a name that used its quota twice lasts twice as long. */
  use(name: string, amount: number): void;
  /** The milliseconds until the window ends of a name that has used up its quota; 0 while something is left. */
  waitMs(name: string): number;
  /** How many names are known: those whose windows have not ended, `maxNames` at most. */
  readonly size: number;
};

type Options = {
  quota: number;
  windowMs: number;
  /** A clock that only goes forward. */
  clock: Clock;
  maxNames?: number;
};

type Window = { used: number; startedAt: number };

/** Quotas of which nothing is used. Beyond `maxNames` the window that began first is forgotten. */
export function createWindowQuotas({ quota, windowMs, clock, maxNames = 100_000 }: Options): WindowQuotas {
  const windows = new Map<string, Window>(); // in the order in which they began

  const endOf = ({ used, startedAt }: Window) => startedAt + windowMs * Math.max(1, used / quota);

  function current(name: string): Window | undefined {
    const window = windows.get(name);
    if (window === undefined || clock.now() < endOf(window)) return window;
    windows.delete(name);
    return undefined;
  }

  /** Windows that last longer than others may hold up the end of those behind them. */
  function forgetEnded(): void {
    for (const [name, window] of windows) {
      if (windows.size <= maxNames && clock.now() < endOf(window)) return;
      windows.delete(name);
    }
  }

  return {
    use(name, amount) {
      if (quota === Number.POSITIVE_INFINITY) return;
      const window = current(name);
      if (window !== undefined) {
        window.used += amount;
        return;
      }
      windows.set(name, { used: amount, startedAt: clock.now() });
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
