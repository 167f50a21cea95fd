import { type OutageEvents, tellOutages } from "../../lib/observing/outages.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Polls for due work, one poll at a time. */
export type Clockwork = {
  /** Starts polling, now first. Failures are reported to `outages`. */
  start(outages: OutageEvents): void;
  /** Polls in `ms` at the latest. */
  wakeIn(ms: number): void;
  /** Stops polling. Resolves after the current poll. */
  stop(): Promise<void>;
};

type Dependencies = {
  /** Does what is due. Returns the milliseconds until more is due, if known. */
  look(): Promise<number | undefined>;
  /** The longest time between two polls, in milliseconds. */
  everyMs: number;
  /** A clock that never goes back. */
  elapsed: Clock;
};

/** Creates a clockwork with a single timer. */
export function createClockwork({ look, everyMs, elapsed }: Dependencies): Clockwork {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let guarded: (() => Promise<void>) | undefined;
  let looking: Promise<void> | undefined;
  let isStopped = false;

  function arm(): void {
    if (isStopped || looking !== undefined || guarded === undefined) return;
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
    looking = guarded?.();
    await looking;
    looking = undefined;
    arm();
  }

  return {
    start(outages) {
      guarded = tellOutages(async () => {
        const nextInMs = await look();
        if (nextInMs !== undefined) wakeIn(nextInMs);
      }, outages);
      wakeIn(0);
    },
    wakeIn,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
