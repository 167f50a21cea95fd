/** Collects items into batches, one batch under way at a time. */
export type Batcher<Item, Result> = {
  /** Resolves with this item's result when its batch is through; rejects when its batch was rejected. */
  add(item: Item): Promise<Result>;
  /** Whether items wait for the batch after the one that is under way. */
  hasWaiting(): boolean;
  /** Resolves when nothing waits and nothing is under way. */
  drain(): Promise<void>;
};

type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(reason: unknown): void };

type Options<Item, Result> = {
  /** Gives one settled result for each item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<PromiseSettledResult<Result>[]>;
  maxBatch: number;
  /** More than this many items waiting: `add` rejects with what `whenFull` makes. */
  maxWaiting: number;
  whenFull(): Error;
};

/**
 * A batcher for group commit: what arrives in one turn of the event loop goes together, and what arrives while a batch
 * is under way goes with the next. Nobody waits for a timer.
 */
export function createBatcher<Item, Result>(options: Options<Item, Result>): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await new Promise<void>((resolve) => setImmediate(resolve)); // what has arrived meanwhile comes along
      const batch = waiting.slice(0, options.maxBatch);
      waiting = waiting.slice(options.maxBatch);
      await settle(batch);
    }
    running = undefined;
  }

  async function settle(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.flush(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result?.status === "fulfilled") resolve(result.value);
        else reject(result?.reason);
      }
    } catch (reason) {
      for (const { reject } of batch) reject(reason);
    }
  }

  return {
    add(item) {
      if (waiting.length >= options.maxWaiting) return Promise.reject(options.whenFull());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        running ??= run();
      });
    },
    hasWaiting: () => waiting.length > 0,
    async drain() {
      while (running !== undefined) await running;
    },
  };
}
