import type { Clock } from "./clock.ts";
import type { Owner } from "./owner.ts";

/** Runs a bounded number of tasks at once. The others wait, in the order in which they came. */
export type Limiter = {
  /**
   * Runs `work` when it has a place, and resolves or rejects as it does. Rejects with what `whenBusy` makes when too many
   * wait, when it has waited too long, or when `owner` closes meanwhile: then `work` never runs.
   */
  run<Result>(work: () => Promise<Result>, owner?: Owner): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
};

type Options = {
  /** How many run at once. */
  places: number;
  maxWaiting: number;
  maxWaitMs: number;
  whenBusy(): Error;
  /** A clock that only goes forward. */
  clock: Clock;
};

type Waiter = { since: number; start(): void; refuse(): void };

/** A limiter in which nothing runs. */
export function createLimiter({ places, maxWaiting, maxWaitMs, whenBusy, clock }: Options): Limiter {
  const waiters = new Set<Waiter>();
  let running = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Those who came first wait the longest, so one timer does for all. */
  function watchFirst(): void {
    const [first] = waiters;
    if (first === undefined || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        refuseOverdue();
        watchFirst();
      },
      Math.max(1, first.since + maxWaitMs - clock.now()),
    );
  }

  function refuseOverdue(): void {
    const now = clock.now();
    for (const waiter of waiters) {
      if (now - waiter.since < maxWaitMs) return;
      waiter.refuse();
    }
  }

  function startNext(): void {
    const [first] = waiters;
    if (first !== undefined) first.start();
    if (waiters.size > 0 || timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
  }

  function waitForPlace(owner: Owner | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let letGo: (() => void) | undefined;
      const waiter: Waiter = {
        since: clock.now(),
        start() {
          waiters.delete(waiter);
          letGo?.();
          running++;
          resolve();
        },
        refuse() {
          if (!waiters.delete(waiter)) return;
          letGo?.();
          reject(whenBusy());
        },
      };
      waiters.add(waiter);
      letGo = owner?.hold(waiter.refuse);
      watchFirst();
    });
  }

  return {
    async run(work, owner) {
      if (owner?.isClosed) throw whenBusy();
      if (running < places) running++;
      else if (waiters.size >= maxWaiting) throw whenBusy();
      else await waitForPlace(owner);
      try {
        return await work();
      } finally {
        running--;
        startNext();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiters.size;
    },
  };
}
