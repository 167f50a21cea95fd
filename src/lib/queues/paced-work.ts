import type { Owner } from "../owner.ts";
import type { Limiter } from "./limiter.ts";

/** Bounds how many pieces of work are done at a time, with a pause behind each large one, in which what it used up comes free. */
export type PacedWork = {
  /**
   * Runs `work` when its turn comes, and resolves or rejects as it does, or as the limiter would: the pause holds up others. Keys take
   * turns. Work is large unless `isLarge` says otherwise of what came out of it.
   */
  run<Result>(work: () => Promise<Result>, options: WorkOptions<Result>): Promise<Result>;
};

type WorkOptions<Result> = { key: string; owner?: Owner; isLarge?: (result: Result) => boolean };

/** As many pieces of work at a time as the limiter has places. A place is free again `pauseMs` after its large work. */
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
