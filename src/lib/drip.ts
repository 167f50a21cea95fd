import type { Clock } from "./clock.ts";
import { createFairQueue } from "./fair-queue.ts";

/** Lets those through who need not hurry: a few at once, and no more in a while, however many come. Names take turns. */
export type Drip = {
  /** Resolves in a later turn of the event loop. Undefined when there is no room for the weight of one more: then nobody is held. */
  pass(name: string, weight: number): Promise<void> | undefined;
  /** Lets all through who wait, and from now on whoever comes. */
  end(): void;
};

type Options = {
  /** How many go through at once, and no more before `everyMs` have passed. */
  atOnce: number;
  everyMs: number;
  /** What all who wait may weigh together. */
  maxWeight: number;
  /** A clock that only goes forward. */
  clock: Clock;
};

/** A drip at which nobody waits. */
export function createDrip({ atOnce, everyMs, maxWeight, clock }: Options): Drip {
  const waiting = createFairQueue<() => void>({ maxWeight });
  let left = atOnce;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isAwake = false;
  let hasEnded = false;

  function wake(): void {
    if (isAwake) return;
    isAwake = true;
    const waitMs = left > 0 || hasEnded ? 0 : begunAt + everyMs - clock.now();
    if (waitMs <= 0) setImmediate(letThrough);
    else setTimeout(letThrough, waitMs);
  }

  function letThrough(): void {
    isAwake = false;
    const now = clock.now();
    if (now - begunAt >= everyMs) {
      begunAt = now;
      left = atOnce;
    }
    while (left > 0 || hasEnded) {
      const pass = waiting.take();
      if (pass === undefined) return;
      left--;
      pass();
    }
    if (waiting.size > 0) wake();
  }

  return {
    pass(name, weight) {
      if (!waiting.hasRoom(name, weight)) return undefined;
      return new Promise((resolve) => {
        waiting.add(name, resolve, weight);
        wake();
      });
    },
    end() {
      hasEnded = true;
      setImmediate(letThrough);
    },
  };
}
