import type { Clock } from "../lib/time/clock.ts";

/** The moment in which a node that stops still answers whoever has not noticed yet. */
export type Drain = {
  /** Whether it has begun: the node is not ready, and every answer closes its connection. */
  readonly isDraining: boolean;
  /**
   * Begins the drain. Resolves once no request has come for a quarter of a second, which is at once for an idle node, and
   * after a second at most.
   */
  begin(): Promise<void>;
};

const quietMs = 250;
const mostMs = 1_000;
const lookAgainMs = 10;

/** Creates a drain that has not begun. `clock` never goes back; `lastAnswerAt` is a time of it. */
export function createDrain(clock: Clock, lastAnswerAt: () => number): Drain {
  const drain = {
    isDraining: false,
    async begin() {
      drain.isDraining = true;
      const end = clock.now() + mostMs;
      while (clock.now() < Math.min(end, lastAnswerAt() + quietMs)) await Bun.sleep(lookAgainMs);
    },
  };
  return drain;
}
