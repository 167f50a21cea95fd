import { drainMicrotasks } from "bun:jsc";
import { type Clock, install } from "@sinonjs/fake-timers";

// A seed takes some thousands; what takes this many would go round for ever.
const mostSteps = 200_000;

/** Time that passes only when it is told to. Everything between two steps, promises included, happens at one instant. */
export type SimulatedTime = {
  /** Milliseconds since the beginning. */
  now(): number;
  /** Runs all that falls due within the next `ms`, in order. Throws when it never comes to rest. */
  pass(ms: number): void;
};

/**
 * Runs `work`, which must not wait for the real world, with the global timers replaced by simulated ones. Since no turn of
 * the real event loop is taken, nothing but `work` can see them, and the same work always takes the same steps.
 */
export function inSimulatedTime<Result>(work: (time: SimulatedTime) => Result): Result {
  const clock: Clock = install({
    now: 0,
    toFake: [
      "setTimeout",
      "clearTimeout",
      "setInterval",
      "clearInterval",
      "setImmediate",
      "clearImmediate",
      "performance",
    ],
  });
  let steps = 0;
  try {
    return work({
      now: () => clock.now,
      pass(ms) {
        let isOver = false;
        setTimeout(() => {
          isOver = true;
        }, ms);
        drainMicrotasks();
        while (!isOver) {
          clock.next();
          drainMicrotasks();
          if (++steps > mostSteps) throw new Error(`the world does not come to rest at ${clock.now} ms`);
        }
      },
    });
  } finally {
    clock.uninstall();
  }
}

/** Waits for simulated milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
