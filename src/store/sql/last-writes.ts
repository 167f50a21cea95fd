import type { Transaction } from "./driver.ts";

/** What a transaction takes `lastly`. */
export type LastWrites = Pick<Transaction, "lastly"> & {
  /** Resolves when all of it is done; rejects if some of it failed, once the rest is done, too. */
  settle(): Promise<void>;
};

/** No writes yet. */
export function createLastWrites(): LastWrites {
  const all: Promise<unknown>[] = [];
  return {
    lastly(writes) {
      writes.catch(() => undefined); // whoever settles hears of it, unless the transaction failed before
      all.push(writes);
    },
    async settle() {
      await Promise.allSettled(all);
      await Promise.all(all);
    },
  };
}
