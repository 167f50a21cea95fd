import { drainMicrotasks } from "bun:jsc";
import { type Clock, install } from "@sinonjs/fake-timers";

// A seed takes some thousands; one that takes this many would run for ever.
const mostSteps = 200_000;

/** Time that passes only on demand. Everything between two steps, including promises, happens at one instant. */
export type SimulatedTime = {
  /** Milliseconds since the beginning, or, if the date is simulated from a time on, that of the date. */
  now(): number;
  /** Runs everything that falls due within the next `ms`, in order. Throws if it never comes to rest. */
  pass(ms: number): void;
  /** The same, but stops as soon as `isOver`, and returns whether it is. */
  passUntil(ms: number, isOver: () => boolean): boolean;
  /** The machine sleeps for so long: what falls due meanwhile runs only at the end, an interval once. */
  sleep(ms: number): void;
};

/**
 * Runs `work`, which must not wait for the real world, with simulated global timers, and `Bun.sleep`. As the real event loop does not
 * turn, nothing but `work` sees them, and the same work always takes the same steps. The date is real, unless it is simulated, too,
 * from 1970 or `startsAt` on.
 */
export function inSimulatedTime<Result>(
  work: (time: SimulatedTime) => Result,
  { simulatesDate = false, startsAt = 0 }: { simulatesDate?: boolean; startsAt?: number } = {},
): Result {
  const clock: Clock = install({
    now: startsAt,
    toFake: [
      "setTimeout",
      "clearTimeout",
      "setInterval",
      "clearInterval",
      "setImmediate",
      "clearImmediate",
      "performance",
      ...(simulatesDate ? (["Date"] as const) : []),
    ],
  });
  const { sleep, randomUUIDv7 } = Bun;
  Bun.sleep = (ms) => pause(Number(ms));
  if (simulatesDate)
    Bun.randomUUIDv7 = ((encoding = "hex", at = clock.now) =>
      randomUUIDv7(encoding as "hex", at)) as typeof randomUUIDv7;
  let steps = 0;
  const passUntil = (ms: number, isOver: () => boolean) => {
    let hasPassed = false;
    const limit = setTimeout(() => {
      hasPassed = true;
    }, ms);
    drainMicrotasks();
    while (!hasPassed && !isOver()) {
      clock.next();
      drainMicrotasks();
      if (++steps > mostSteps) throw new Error(`the world does not come to rest at ${clock.now} ms`);
    }
    clearTimeout(limit);
    return isOver();
  };
  try {
    return work({
      now: () => clock.now,
      pass: (ms) => void passUntil(ms, () => false),
      passUntil,
      sleep(ms) {
        clock.jump(ms);
        drainMicrotasks();
      },
    });
  } finally {
    Object.assign(Bun, { sleep, randomUUIDv7 });
    clock.uninstall();
  }
}

/** Waits for simulated milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
