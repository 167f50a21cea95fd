/** Collects items into batches, and hands them on in the order in which they came. */
export type Batcher<Item, Result> = {
  /** Resolves with this item's result when its batch is through; rejects when its batch was rejected. */
  add(item: Item): Promise<Result>;
  /** Whether, seen from the end of a batch, more is about to end: items that wait, or another batch under way. */
  hasMore(): boolean;
};

/** When a batch need not wait for the end of the one before: as soon as `from` items wait, with `depth` batches under way at most. */
export type Pipeline = { depth: number; from: number };

type Waiting<Item, Result> = {
  item: Item;
  weight: number;
  resolve(result: Result): void;
  reject(reason: unknown): void;
};

/** Bounds by weight, beside those by number. An item heavier than a bound goes by itself. */
export type Weights<Item> = {
  of(item: Item): number;
  /** Of all items of one batch together. */
  maxBatch: number;
  /** Of all that wait. */
  maxWaiting: number;
};

type Options<Item, Result> = {
  /** Gives one settled result for each item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<PromiseSettledResult<Result>[]>;
  maxBatch: number;
  /** When more items than this would wait, or more weight than may, `add` rejects with what `whenFull` makes. */
  maxWaiting: number;
  whenFull(): Error;
  weights?: Weights<Item>;
  /** Only for a `flush` that may be called again before it has ended. Without it one batch is under way at a time. */
  pipeline?: Pipeline | undefined;
};

const oneAtATime: Pipeline = { depth: 1, from: Number.POSITIVE_INFINITY };

/**
 * A batcher for group commit: what arrives in one turn of the event loop goes together, and what arrives while a batch
 * is under way goes with the next. Nobody waits for a timer.
 */
export function createBatcher<Item, Result>(options: Options<Item, Result>): Batcher<Item, Result> {
  const { depth, from } = options.pipeline ?? oneAtATime;
  const { weights } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let waitingWeight = 0;
  let underWay = 0;
  let isTurnAwaited = false;

  async function flush(items: Item[]): Promise<PromiseSettledResult<Result>[]> {
    try {
      return await options.flush(items);
    } catch (reason) {
      return items.map(() => ({ status: "rejected", reason }));
    }
  }

  /** The first items, as many as go together. */
  function take(): Waiting<Item, Result>[] {
    const most = Math.min(waiting.length, options.maxBatch);
    let count = 0;
    let weight = 0;
    for (; count < most; count++) {
      const next = weight + (waiting[count]?.weight ?? 0);
      if (weights !== undefined && next > weights.maxBatch && count > 0) break;
      weight = next;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingWeight -= weight;
    return batch;
  }

  async function run(): Promise<void> {
    const batch = take();
    underWay++;
    const results = await flush(batch.map(({ item }) => item));
    underWay--;
    if (mayRun()) void run(); // before anyone hears of this batch: what they do then would hold up the next one
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index];
      if (result?.status === "fulfilled") resolve(result.value);
      else reject(result?.reason);
    }
  }

  const mayOverlap = () => underWay < depth && waiting.length >= from;
  const mayRun = () => mayOverlap() || (underWay === 0 && waiting.length > 0);

  function runAfterTurn(): void {
    if (underWay > 0 || isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(() => {
      isTurnAwaited = false;
      if (mayRun()) void run();
    });
  }

  return {
    add(item) {
      const weight = weights?.of(item) ?? 0;
      const isTooHeavy = weights !== undefined && waiting.length > 0 && waitingWeight + weight > weights.maxWaiting;
      if (isTooHeavy || waiting.length >= options.maxWaiting) return Promise.reject(options.whenFull());
      return new Promise((resolve, reject) => {
        waiting.push({ item, weight, resolve, reject });
        waitingWeight += weight;
        if (mayOverlap()) void run();
        else runAfterTurn();
      });
    },
    hasMore: () => waiting.length > 0 || underWay > 1,
  };
}
