import { rateLimited } from "../../contract/errors/errors.ts";

/** How many transfers of a kind run at once on this node. Each holds a bounded number of bytes in memory. */
export type TransferSlots = {
  /**
   * Takes a slot for an organization, or for another `holder` with its own quota; returns the function that frees it.
   * Throws `rate_limited`.
   */
  take(org: string, holder?: Holder): () => void;
};

/** Who holds slots: as the refusal says it, and how many at once. */
export type Holder = { whose: string; quota: number };

type Options = { what: string; ofOrganization: number; ofNode: number };

const retryAfterSeconds = 5;

/** Creates slots, all of them free. */
export function createTransferSlots({ what, ofOrganization, ofNode }: Options): TransferSlots {
  const taken = new Map<string, number>();
  let total = 0;

  function give(org: string): void {
    total--;
    const left = (taken.get(org) ?? 1) - 1;
    if (left === 0) taken.delete(org);
    else taken.set(org, left);
  }

  return {
    take(org, holder = { whose: "this organization", quota: ofOrganization }) {
      const own = taken.get(org) ?? 0;
      if (own >= holder.quota || total >= ofNode) {
        const { whose, quota } = own >= holder.quota ? holder : { whose: "this node", quota: ofNode };
        throw rateLimited({
          detail: `${whose} may run ${quota} ${what} at once; try again when one has ended`,
          policy: what,
          quota,
          retryAfterSeconds,
        });
      }
      taken.set(org, own + 1);
      total++;
      let isTaken = true;
      return () => {
        if (isTaken) give(org);
        isTaken = false;
      };
    },
  };
}
