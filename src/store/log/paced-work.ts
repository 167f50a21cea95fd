import { unavailable } from "../../contract/errors/errors.ts";
import { createQueue } from "../../lib/queues/queue.ts";
import { steadyClock } from "../../lib/time/clock.ts";

const longestRestMs = 100; // however long a piece had to wait for the database

/** Runs the many pieces of large changes one at a time, organizations in turns. */
export type PacedWork = {
  /** Settles with the work. */
  run<Result>(org: string, work: () => Promise<Result>): Promise<Result>;
};

type Options = {
  /** Whether anybody sends, who should not wait. */
  isSending(): boolean;
  /** The length of the rest after a piece, for each millisecond that it took, while anybody sends; 100 ms at most in all. */
  restPerMs: number;
};

/**
 * Creates paced work. The rests leave most of the database to those who send, and of the processor and disk that come
 * with it.
 */
export function createPacedWork({ isSending, restPerMs }: Options): PacedWork {
  const pieces = createQueue(unavailable);

  return {
    run<Result>(org: string, work: () => Promise<Result>): Promise<Result> {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      void pieces.add({ of: org }, async () => {
        const beganAt = steadyClock.now();
        await work().then(resolve, reject);
        if (isSending()) await Bun.sleep(Math.min(longestRestMs, restPerMs * (steadyClock.now() - beganAt)));
      });
      return promise;
    },
  };
}
