import type { SteadyClock } from "../time/clock.ts";

const everyMs = 5_000;
const longestPauseMs = 60_000;

/** A value as it was read, and how long ago that was. */
export type Reading<Value> = { value: Value; ageMs: number };

/** A value that is read again and again in the background. */
export type Gauge<Value> = {
  /** The last reading; `undefined` before the first one, and while the value cannot be read. */
  current(): Reading<Value> | undefined;
  /** Ends the readings. One that is in progress has no effect. */
  stop(): void;
};

type Options = {
  clock: SteadyClock;
  onError(error: unknown): void;
};

/**
 * Reads a value at once, and then 5 s after each reading. After a slow reading, the pause is longer, and the longest, a
 * minute, after one of 5 s or more: readings take less than a tenth of the time. Of consecutive failures, the first one is reported.
 */
export function followValue<Value>(read: () => Promise<Value>, { clock, onError }: Options): Gauge<Value> {
  let last: { value: Value; at: number } | undefined;
  let isFailing = false;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function readNow(): Promise<void> {
    const startedAt = clock.now();
    try {
      const value = await read();
      last = { value, at: clock.now() };
      isFailing = false;
    } catch (error) {
      last = undefined;
      if (!isFailing && !isStopped) onError(error);
      isFailing = true;
    }
    if (isStopped) return;
    const slowness = Math.min(1, (clock.now() - startedAt) / everyMs);
    const pauseMs = Math.max(everyMs, slowness * longestPauseMs);
    timer = setTimeout(() => void readNow(), pauseMs);
  }

  void readNow();
  return {
    current: () => last && { value: last.value, ageMs: clock.now() - last.at },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
