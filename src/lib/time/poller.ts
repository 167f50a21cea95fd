import { type OutageEvents, tellOutages } from "../observing/outages.ts";
import type { SteadyClock } from "./clock.ts";

/** Polls for due work, one poll at a time. */
export type Poller = {
  /** Starts polling, now first. Failures are reported to `outages`. */
  start(outages: OutageEvents): void;
  /** Polls in `ms` at the latest. */
  wakeIn(ms: number): void;
  /** Stops polling. Resolves after the current poll. */
  stop(): Promise<void>;
};

type Dependencies = {
  /** Does what is due. Returns the milliseconds until more is due, if known. */
  poll(): Promise<number | undefined>;
  /** The longest time between two polls, in milliseconds. */
  everyMs: number;
  elapsed: SteadyClock;
};

/** Creates a poller with a single timer. */
export function createPoller({ poll, everyMs, elapsed }: Dependencies): Poller {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let guarded: (() => Promise<void>) | undefined;
  let polling: Promise<void> | undefined;
  let isStopped = false;

  function arm(): void {
    if (isStopped || polling !== undefined || guarded === undefined) return;
    clearTimeout(timer);
    timer = setTimeout(() => void wake(), Math.max(0, wakeAt - elapsed.now()));
  }

  function wakeIn(ms: number): void {
    const at = elapsed.now() + Math.max(0, ms);
    if (at >= wakeAt) return;
    wakeAt = at;
    arm();
  }

  async function wake(): Promise<void> {
    wakeAt = elapsed.now() + everyMs;
    polling = guarded?.();
    await polling;
    polling = undefined;
    arm();
  }

  return {
    start(outages) {
      guarded = tellOutages(async () => {
        const nextInMs = await poll();
        if (nextInMs !== undefined) wakeIn(nextInMs);
      }, outages);
      wakeIn(0);
    },
    wakeIn,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await polling;
    },
  };
}
