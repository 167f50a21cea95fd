/** Collects items into batches, one batch under way at a time. */
export type Batcher<Item, Result> = {
  /** Resolves with this item's result when its batch is through; rejects when its batch was rejected. */
  add(item: Item): Promise<Result>;
  /** Whether items wait for the batch after the one that is under way. */
  hasWaiting(): boolean;
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
  let isRunning = false;

  async function flush(items: Item[]): Promise<PromiseSettledResult<Result>[]> {
    try {
      return await options.flush(items);
    } catch (reason) {
      return items.map(() => ({ status: "rejected", reason }));
    }
  }

  async function run(): Promise<void> {
    const batch = waiting.slice(0, options.maxBatch);
    waiting = waiting.slice(options.maxBatch);
    isRunning = batch.length > 0;
    if (!isRunning) return;
    const results = await flush(batch.map(({ item }) => item));
    void run(); // before anyone hears of this batch: what they do then would hold up the next one
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index];
      if (result?.status === "fulfilled") resolve(result.value);
      else reject(result?.reason);
    }
  }

  return {
    add(item) {
      if (waiting.length >= options.maxWaiting) return Promise.reject(options.whenFull());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (isRunning) return;
        isRunning = true;
        setImmediate(() => void run());
      });
    },
    hasWaiting: () => waiting.length > 0,
  };
}
