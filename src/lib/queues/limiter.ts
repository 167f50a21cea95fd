import type { Owner } from "../owner.ts";
import { amountOf } from "../rates/amount.ts";
import type { SteadyClock } from "../time/clock.ts";
import { createFairQueue, shareOfFree } from "./fair-queue.ts";
import { append, createLinkedList, type Link, remove } from "./linked-list.ts";

/** Runs a bounded number of tasks at once. The others wait: those of one key in order of arrival, keys in turns. */
export type Limiter = {
  /**
   * Runs `work` once it has a place, and settles with it. Rejects with the result of `whenBusy` if too many wait, the
   * wait is too long, or `owner` closes meanwhile; then `work` never runs. The key with most waiting is refused first.
   * Waiting tasks may have a weight, which is limited like their number.
   */
  run<Result>(work: () => Promise<Result>, waiting?: Waiting): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
};

type Waiting = { owner?: Owner | undefined; key?: string | undefined; weight?: number };

type Options = {
  /** How many tasks run at once. */
  places: number;
  maxWaiting: number;
  /** The total weight that may wait; unlimited by default. */
  maxWeight?: number;
  maxWaitMs: number;
  whenBusy(): Error;
  clock: SteadyClock;
};

type Waiter = { since: number; start(): void; refuse(): void };

/** Creates an idle limiter. */
export function createLimiter(options: Options): Limiter {
  const { places, maxWaiting, maxWeight = Number.POSITIVE_INFINITY, maxWaitMs, whenBusy, clock } = options;
  const arrivals = createLinkedList<Waiter>();
  const queue = createFairQueue<Waiter>({ maxItems: maxWaiting, maxWeight, share: shareOfFree });
  let running = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** The first to arrive waits longest, so one timer serves all. */
  function watchFirst(): void {
    const first = arrivals.first?.value;
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
    for (let first = arrivals.first; first !== undefined; first = arrivals.first) {
      if (now - first.value.since < maxWaitMs) return;
      first.value.refuse();
    }
  }

  function startNext(): void {
    queue.take()?.start();
    if (queue.size > 0 || timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
  }

  function waitForPlace(owner: Owner | undefined, key: string, weight: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let arrival: Link<Waiter> | undefined;
      let letGo: (() => void) | undefined;
      /** False if it was no longer waiting. */
      function leave(): boolean {
        if (arrival === undefined) return false;
        remove(arrivals, arrival);
        arrival = undefined;
        letGo?.();
        return true;
      }
      const waiter: Waiter = {
        since: clock.now(),
        start() {
          leave();
          running++;
          resolve();
        },
        refuse() {
          if (!leave()) return;
          queue.remove(place);
          reject(whenBusy());
        },
      };
      arrival = append(arrivals, waiter);
      const place = queue.add(key, waiter, { weight });
      letGo = owner?.hold(waiter.refuse);
      watchFirst();
    });
  }

  return {
    async run(work, { owner, key = "", weight: given = 0 } = {}) {
      const weight = amountOf(given);
      if (owner?.isClosed) throw whenBusy();
      if (running < places) running++;
      else if (!queue.hasRoom(key, weight)) throw whenBusy();
      else await waitForPlace(owner, key, weight);
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
      return queue.size;
    },
  };
}
