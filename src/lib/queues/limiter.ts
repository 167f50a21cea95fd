import type { Owner } from "../owner.ts";
import type { Clock } from "../time/clock.ts";
import { createFairQueue, shareOfFree } from "./fair-queue.ts";
import { createLinkedList, type Link } from "./linked-list.ts";

/** Runs a bounded number of tasks at once. The others wait: those of one key in the order in which they came, keys in turns. */
export type Limiter = {
  /**
   * Runs `work` when it has a place, and resolves or rejects as it does. Rejects with what `whenBusy` makes when too many
   * wait, when it has waited too long, or when `owner` closes meanwhile: then `work` never runs. Of those who wait, whose key has
   * most waiting is refused first. What waits may have a weight, which is bounded as its number is.
   */
  run<Result>(work: () => Promise<Result>, waiting?: Waiting): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
};

type Waiting = { owner?: Owner | undefined; key?: string | undefined; weight?: number };

type Options = {
  /** How many run at once. */
  places: number;
  maxWaiting: number;
  /** How much may wait together; by default as much as likes. */
  maxWeight?: number;
  maxWaitMs: number;
  whenBusy(): Error;
  /** A clock that only goes forward. */
  clock: Clock;
};

type Waiter = { since: number; start(): void; refuse(): void };

/** A limiter in which nothing runs. */
export function createLimiter(options: Options): Limiter {
  const { places, maxWaiting, maxWeight = Number.POSITIVE_INFINITY, maxWaitMs, whenBusy, clock } = options;
  const arrivals = createLinkedList<Waiter>();
  const queue = createFairQueue<Waiter>({ maxItems: maxWaiting, maxWeight, share: shareOfFree });
  let running = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Those who came first wait the longest, so one timer does for all. */
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
      /** False when it does not wait any more. */
      function leave(): boolean {
        if (arrival === undefined) return false;
        arrivals.remove(arrival);
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
      arrival = arrivals.append(waiter);
      const place = queue.add(key, waiter, weight);
      letGo = owner?.hold(waiter.refuse);
      watchFirst();
    });
  }

  return {
    async run(work, { owner, key = "", weight = 0 } = {}) {
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
