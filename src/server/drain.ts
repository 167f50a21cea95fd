import type { Clock } from "../lib/time/clock.ts";

/** The moment in which a node that stops still answers whoever has not noticed yet. */
export type Drain = {
  isDraining(): boolean;
  /** Notes a request. */
  note(): void;
  /**
   * Begins the drain: the node is not ready, and every answer closes its connection. Resolves once no request has come for
   * a quarter of a second, which is at once for an idle node, and after a second at most.
   */
  begin(): Promise<void>;
};

const quietMs = 250;
const mostMs = 1_000;
const lookAgainMs = 10;

/** Creates a drain that has not begun. `clock` never goes back. */
export function createDrain(clock: Clock): Drain {
  let lastAt = Number.NEGATIVE_INFINITY;
  let isDraining = false;
  return {
    isDraining: () => isDraining,
    note() {
      lastAt = clock.now();
    },
    async begin() {
      isDraining = true;
      const end = clock.now() + mostMs;
      while (clock.now() < Math.min(end, lastAt + quietMs)) await Bun.sleep(lookAgainMs);
    },
  };
}
