import { unavailable } from "../../contract/errors/errors.ts";
import { createLimiter, type Limiter } from "../../lib/queues/limiter.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Changes of the directory with large input, which stays in memory until they end. */
export type LargeChanges = ReturnType<typeof createLargeChanges>;

// The second prepares while the first is written. More would not be faster, as they take turns in the database.
const placesOfOrganization = 2;
const mostWaiting = { maxWaiting: 200, maxWeight: 1_000_000 };
const maxWaitMs = 15_000;

/** Creates limiters per organization, so that none waits for another. */
export function createLargeChanges({ clock }: { clock: Clock }) {
  const limiters = new Map<string, Limiter>();

  function limiterOf(org: string): Limiter {
    const known = limiters.get(org);
    if (known !== undefined) return known;
    const limiter = createLimiter({ places: placesOfOrganization, ...mostWaiting, maxWaitMs, whenBusy, clock });
    limiters.set(org, limiter);
    return limiter;
  }

  return {
    /**
     * Runs a change of this many names once few enough others of the organization are running. Rejects with
     * `unavailable`, without changing anything, if too many names are waiting or the wait is too long.
     */
    async run<Result>(org: string, names: number, change: () => Promise<Result>): Promise<Result> {
      if (names <= rowsOfStep) return await change();
      const limiter = limiterOf(org);
      try {
        return await limiter.run(change, { key: org, weight: names });
      } finally {
        if (limiter.running + limiter.waiting === 0) limiters.delete(org);
      }
    },
  };
}

function whenBusy(): Error {
  const detail =
    "too many large changes to this organization's directory are waiting; nothing was changed, so try again";
  return unavailable({ detail, retryAfterSeconds: 5 });
}
