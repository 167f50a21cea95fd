import { nextTurn } from "../event-loop/next-turn.ts";
import { createTurns, type Turn } from "./turns.ts";

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
