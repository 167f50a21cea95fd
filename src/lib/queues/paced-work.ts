import type { Owner } from "../owner.ts";
import type { Limiter } from "./limiter.ts";

/**
 * Limits how many pieces of work run at a time, with a pause after each large one, in which its resources are freed.
 */
export type PacedWork = {
  /**
   * Runs `work` when its turn comes, and settles with it or as the limiter does; only later work waits for the pause.
   * Keys take turns. Work counts as large unless `isLarge` returns false for its result.
   */
  run<Result>(work: () => Promise<Result>, options: WorkOptions<Result>): Promise<Result>;
};

type WorkOptions<Result> = { key: string; owner?: Owner; isLarge?: (result: Result) => boolean };

/** Creates paced work with the limiter's places. After large work, a place stays taken for `pauseMs`. */
export function createPacedWork({ limiter, pauseMs }: { limiter: Limiter; pauseMs: number }): PacedWork {
  return {
    run<Result>(work: () => Promise<Result>, { key, owner, isLarge = () => true }: WorkOptions<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const workAndPause = async () => {
        const result = await work();
        resolve(result);
        if (isLarge(result)) await new Promise((goOn) => setTimeout(goOn, pauseMs));
      };
      limiter.run(workAndPause, { owner, key }).catch(reject);
      return promise;
    },
  };
}
