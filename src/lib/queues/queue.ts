import { nextTurn } from "../event-loop/next-turn.ts";
import { createFairQueue } from "./fair-queue.ts";
import { append, createLinkedList, remove } from "./linked-list.ts";

/** Runs pieces of work one at a time, in turns. */
export type Queue = {
  /** Settles with the work; a failure does not stop the work behind it. */
  add<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
  /** Resolves once everything added so far is done. Later work is refused with the result of `whenClosed`. */
  close(): Promise<void>;
};

/**
 * Creates an empty queue. The event loop turns after each piece except a `batch`, so that messages sent to this
 * thread meanwhile can get the next turn even if the queue never empties.
 */
export function createQueue(whenClosed: () => Error): Queue {
  const turns = createTurns<() => Promise<void>>();
  let running: Promise<void> | undefined;
  let isClosed = false;

  async function runAll(): Promise<void> {
    for (let run = turns.take(); run !== undefined; run = turns.take()) await run();
    running = undefined;
  }

  return {
    add(turn, work) {
      if (isClosed) return Promise.reject(whenClosed());
      return new Promise((resolve, reject) => {
        turns.add(turn, async () => {
          try {
            resolve(await work());
          } catch (error) {
            reject(error);
          }
          if (turn !== "batch") await nextTurn();
        });
        running ??= runAll();
      });
    },
    async close() {
      isClosed = true;
      while (running !== undefined) await running;
    },
  };
}

/**
 * The turn that work takes: a `batch` serves many owners at once, and batches have every second turn; other work takes turns by
 * its owner, `of`. `isBulk`: it is one of many pieces that touch the same rows.
 */
export type Turn = "batch" | { of: string; isBulk?: true };

/** Items waiting for their turns. */
export type Turns<Item> = {
  add(turn: Turn, item: Item): void;
  /** Takes the item whose turn it is, skipping the work of owners that are held. */
  take(isHeld?: (of: string) => boolean): Item | undefined;
  /** Takes the oldest item, regardless of turns. */
  takeOldest(): Item | undefined;
  readonly oldest: Item | undefined;
  readonly size: number;
};

type Entry<Item> = { item: Item; unqueue(): void };

/** Creates an empty set of waiting items. */
export function createTurns<Item>(): Turns<Item> {
  const batches = createFairQueue<() => Item>();
  const others = createFairQueue<() => Item>();
  const arrivals = createLinkedList<Entry<Item>>();
  let wasBatch = false;

  return {
    add(turn, item) {
      const [queue, key] = turn === "batch" ? [batches, ""] : [others, turn.of];
      const place = queue.add(key, () => {
        remove(arrivals, arrival);
        return item;
      });
      const arrival = append(arrivals, { item, unqueue: () => queue.remove(place) });
    },
    take(isHeld) {
      wasBatch = batches.size > 0 && (!wasBatch || others.size === 0);
      return (wasBatch ? batches.take() : others.take({ isHeld }))?.();
    },
    takeOldest() {
      const { first } = arrivals;
      if (first === undefined) return undefined;
      remove(arrivals, first);
      first.value.unqueue();
      return first.value.item;
    },
    get oldest() {
      return arrivals.first?.value.item;
    },
    get size() {
      return batches.size + others.size;
    },
  };
}
