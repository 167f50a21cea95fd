import { nextTurn } from "../event-loop/next-turn.ts";
import { createTurns, type Turn } from "./turns.ts";

/** Runs work one piece after another, in turns. */
export type Queue = {
  /** Resolves or rejects as the work does; what fails holds up nothing behind it. */
  add<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all that was added so far is through. What is added later is refused with what `whenClosed` makes. */
  close(): Promise<void>;
};

/**
 * An empty queue. The event loop turns after each piece but `shared` ones, so that what is sent to this thread meanwhile can have
 * the next turn, however much waits and never pauses.
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
          await Promise.try(work).then(resolve, reject);
          if (turn !== "shared") await nextTurn();
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
