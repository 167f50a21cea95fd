import { createFairQueue, shareOfFree } from "./fair-queue.ts";

/** Collects items into batches, and hands them on: those of one key in the order in which they came, keys in turns. */
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

const turnsPerBatch = 128;

type Options<Item, Result> = {
  /** Gives one result for each item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<Result[]>;
  maxBatch: number;
  /** When more items than this would wait, or more weight than may, `add` rejects with what `whenFull` makes. */
  maxWaiting: number;
  whenFull(): Error;
  weights?: Weights<Item>;
  /**
   * Who takes turns, if not all in the order in which they came. What waits for one makes another wait a batch at most, and `add`
   * refuses first who has most waiting: at 80 % of what may wait if it is one, the less the more they are.
   */
  keyOf?: ((item: Item) => string) | undefined;
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
  const { weights, keyOf = () => "" } = options;
  const queue = createFairQueue<Waiting<Item, Result>>({
    maxItems: options.maxWaiting,
    ...(weights !== undefined && { maxWeight: weights.maxWaiting, weightPerTurn: weights.maxBatch / turnsPerBatch }),
    ...(options.keyOf !== undefined && { share: shareOfFree }),
  });
  let underWay = 0;
  let isTurnAwaited = false;

  /** Gives what tells everyone in the batch how it ended. */
  async function flush(batch: Waiting<Item, Result>[]): Promise<() => void> {
    try {
      const results = await options.flush(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error(`${results.length} results for ${batch.length} items`);
      return () => {
        for (const [index, result] of results.entries()) batch[index]?.resolve(result);
      };
    } catch (reason) {
      return () => {
        for (const { reject } of batch) reject(reason);
      };
    }
  }

  /** The next items, as many as go together. */
  function take(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    const before = queue.weight;
    const fits = (weight: number) =>
      weights === undefined || batch.length === 0 || before - queue.weight + weight <= weights.maxBatch;
    while (batch.length < options.maxBatch) {
      const next = queue.take(fits);
      if (next === undefined) break;
      batch.push(next);
    }
    return batch;
  }

  async function run(): Promise<void> {
    const batch = take();
    underWay++;
    const tell = await flush(batch);
    underWay--;
    if (mayRun()) void run(); // before anyone hears of this batch: what they do then would hold up the next one
    tell();
  }

  const mayOverlap = () => underWay < depth && queue.size >= from;
  const mayRun = () => mayOverlap() || (underWay === 0 && queue.size > 0);

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
      const key = keyOf(item);
      if (!queue.hasRoom(key, weight)) return Promise.reject(options.whenFull());
      return new Promise((resolve, reject) => {
        queue.add(key, { item, resolve, reject }, weight);
        if (mayOverlap()) void run();
        else runAfterTurn();
      });
    },
    hasMore: () => queue.size > 0 || underWay > 1,
  };
}
