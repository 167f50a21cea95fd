import type { Owner } from "../owner.ts";
import type { Limiter } from "./limiter.ts";

/**
 * Limits how many pieces of work run at a time, with a pause after each large one, in which its resources are freed.
 */
export type PacedWork = {
  /**
   * Runs `work` when its turn comes, and settles with it or as the limiter does; only later work waits for the pause.
   * Keys take turns. The pause is as long as `pausesAfter` says for the result, one pause by default, none for 0.
   */
  run<Result>(work: () => Promise<Result>, options: WorkOptions<Result>): Promise<Result>;
};

type WorkOptions<Result> = { key: string; owner?: Owner; pausesAfter?: (result: Result) => number };

/** Creates paced work with the limiter's places. After large work, a place stays taken for `pauseMs`. */
export function createPacedWork({ limiter, pauseMs }: { limiter: Limiter; pauseMs: number }): PacedWork {
  return {
    run<Result>(work: () => Promise<Result>, { key, owner, pausesAfter = () => 1 }: WorkOptions<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const workAndPause = async () => {
        const result = await work();
        resolve(result);
        const pauses = pausesAfter(result);
        if (pauses > 0) await new Promise((goOn) => setTimeout(goOn, pauses * pauseMs));
      };
      limiter.run(workAndPause, { owner, key }).catch(reject);
      return promise;
    },
  };
}

/** Paces work only while `isNeeded`; otherwise runs it at once. */
export function paceWhile(isNeeded: () => boolean, paced: PacedWork): PacedWork {
  return { run: (work, options) => (isNeeded() ? paced.run(work, options) : work()) };
}
