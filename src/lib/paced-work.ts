import type { Limiter } from "./limiter.ts";

/** Does large pieces of work one after another, with a pause behind each, in which what they used up comes free. */
export type PacedWork = {
  /** Runs `work` when its turn comes, and resolves or rejects as it does, or as the limiter when too many wait. Keys take turns. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
};

/** As many pieces of work at a time as the limiter has places. A place is free again `pauseMs` after its work. */
export function createPacedWork({ limiter, pauseMs }: { limiter: Limiter; pauseMs: number }): PacedWork {
  return {
    run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const workAndPause = async () => {
        await work().then(resolve, reject);
        await Bun.sleep(pauseMs);
      };
      limiter.run(workAndPause, undefined, key).catch(reject);
      return promise;
    },
  };
}
