import { HeraldError } from "../../contract/errors/errors.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";

type Options = {
  withinMs: number;
  elapsed: SteadyClock;
  /** Whether nobody needs it any more. */
  isOver?: () => boolean;
  /** Waits; may end sooner if a refund may let the attempt pass. */
  sleep?: (ms: number) => Promise<void>;
};

/**
 * Does what a limit may refuse; after a refusal, again as soon as the limit says that it allows more. Rejects with the refusal
 * at once if that takes longer than `withinMs` in all.
 */
export async function onceAllowed<Result>(
  attempt: () => Result | Promise<Result>,
  { withinMs, elapsed, isOver = () => false, sleep = Bun.sleep }: Options,
): Promise<Result> {
  for (const until = elapsed.now() + withinMs; ; ) {
    try {
      return await attempt();
    } catch (error) {
      const waitMs = error instanceof HeraldError ? error.waitMs : undefined;
      if (waitMs === undefined || isOver() || elapsed.now() + waitMs > until) throw error;
      await sleep(waitMs);
    }
  }
}
