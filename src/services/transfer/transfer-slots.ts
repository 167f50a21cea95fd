import { rateLimited } from "../../contract/errors/errors.ts";
import { createCounters } from "../../lib/rates/counters.ts";

/** How many transfers of a kind run at once on this node. Each holds a bounded number of bytes in memory. */
export type TransferSlots = ReturnType<typeof createTransferSlots>;

/** Who holds slots: as the refusal says it, and how many at once. */
type Holder = { whose: string; quota: number };

type Options = { what: string; ofOrganization: number; ofNode: number };

const retryAfterSeconds = 5;

/** Creates slots, all of them free. */
export function createTransferSlots({ what, ofOrganization, ofNode }: Options) {
  const taken = createCounters();
  return {
    /**
     * Takes a slot for an organization, or for another `holder` with its own quota; returns the function that frees it.
     * Throws `rate_limited`.
     */
    take(org: string, holder: Holder = { whose: "this organization", quota: ofOrganization }): () => void {
      const isNodeFull = taken.total >= ofNode && taken.countOf(org) < holder.quota;
      if (isNodeFull || !taken.take(org, holder.quota)) {
        const { whose, quota } = isNodeFull ? { whose: "this node", quota: ofNode } : holder;
        throw rateLimited({
          detail: `${whose} may run ${quota} ${what} at once; try again when one has ended`,
          policy: what,
          quota,
          retryAfterSeconds,
        });
      }
      let isTaken = true;
      return () => {
        if (isTaken) taken.release(org);
        isTaken = false;
      };
    },
  };
}
