import type { Transaction } from "./driver.ts";

/** The writes that a transaction takes with `lastly`. */
export type LastWrites = Pick<Transaction, "lastly"> & {
  /** Resolves when all writes are done; rejects if any failed, once all have ended. */
  settle(): Promise<void>;
};

/** Creates an empty collection of last writes. */
export function createLastWrites(): LastWrites {
  const all: Promise<unknown>[] = [];
  return {
    lastly(writes) {
      writes.catch(() => undefined); // `settle` reports it, unless the transaction has failed already
      all.push(writes);
    },
    async settle() {
      await Promise.allSettled(all);
      await Promise.all(all);
    },
  };
}
