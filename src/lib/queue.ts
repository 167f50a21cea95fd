/** Runs work one piece after another, in the order in which it was added. */
export type Queue = {
  /** Resolves or rejects as the work does; what fails holds up nothing behind it. */
  add<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all that was added so far is through. */
  idle(): Promise<void>;
};

/** An empty queue. */
export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    add(work) {
      const result = last.then(work);
      last = result.catch(() => undefined);
      return result;
    },
    async idle() {
      await last;
    },
  };
}
