import type { SteadyClock } from "../../lib/time/clock.ts";
import type { ExpiryReads, ExpiryWrites } from "../../store/messages/ports.ts";
import { createDueWork } from "../due-work.ts";

type Dependencies = {
  expiry: ExpiryReads & ExpiryWrites & { isShared: boolean };
  elapsed: SteadyClock;
  random?(): number;
};

/** Ends messages and system messages when they expire. */
export type Expiry = ReturnType<typeof createExpiry>;

/** Creates the work that ends what expires, on this node or another: some of each organization at a time. */
export function createExpiry({ expiry, elapsed, random }: Dependencies) {
  return createDueWork({
    due: expiry,
    workSome: async (org, now) => (await expiry.endSome(org, now)) > 0,
    elapsed,
    ...(random !== undefined && { random }),
  });
}
