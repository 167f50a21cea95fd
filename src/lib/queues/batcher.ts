import { createFairQueue, shareOfFree } from "./fair-queue.ts";

/** Collects items into batches: those of one key in order of arrival, keys in turns. */
export type Batcher<Item, Result> = {
  /** Resolves with the item's result once its batch is done; rejects if the batch was rejected. */
  add(item: Item): Promise<Result>;
  /** Adds items of one key that go in one batch, in their order; with them, a batch may exceed its limits. */
  addTogether(items: readonly Item[]): Promise<Result>[];
  /** Whether more is about to end: at the end of a batch, whether items are waiting or another batch is in progress. */
  hasMore(): boolean;
  /** Items that have no result yet; of those that wait for a batch, only the first of each key. */
  pending(): Iterable<Item>;
};

/**
 * How batches overlap: at most `depth` are in progress. A further one begins once `from` items wait, or with `byKey`, once
 * items of keys wait that no batch in progress has.
 */
export type Overlap = { depth: number } & ({ from: number } | { byKey: true });

type Waiting<Item, Result> = {
  item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
  /** Those that go with it. */
  others?: readonly Waiting<Item, Result>[];
};

/** Limits by weight, in addition to those by number. An item heavier than a limit goes alone. */
export type Weights<Item> = {
  of(item: Item): number;
  /** Total weight of a batch. */
  maxBatch: number;
  /** Total weight of waiting items. */
  maxWaiting: number;
};

type Batch<Item, Result> = Waiting<Item, Result>[];

type Options<Item, Result> = {
  /** Returns one result per item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<Result[]>;
  maxBatch: number;
  /** If more items or more weight would be waiting, `add` rejects with the result of `whenFull`. */
  maxWaiting: number;
  whenFull(): Error;
  weights?: Weights<Item>;
  /**
   * The key by which items take turns; without it, all go in order of arrival. Items of one key delay another key's by
   * one batch at most, and `add` refuses the keys with most waiting first: one key alone may use 80 % of the queue, and
   * less the more keys there are.
   */
  keyOf?: ((item: Item) => string) | undefined;
  /** Only for a `flush` that may be called again before it has ended. Without it, batches do not overlap. */
  overlap?: Overlap | undefined;
};

const oneAtATime: Overlap = { depth: 1, from: Number.POSITIVE_INFINITY };

/**
 * Creates a batcher for group commit: items that arrive in one turn of the event loop go together, and items that
 * arrive during a batch go with the next. Nothing waits for a timer.
 */
export function createBatcher<Item, Result>(options: Options<Item, Result>): Batcher<Item, Result> {
  const { maxBatch, weights, keyOf = () => "", overlap = oneAtATime } = options;
  // A turn pays for an item of average weight, as it takes one item where there are no weights.
  const queue = createFairQueue<Waiting<Item, Result>>({
    maxItems: options.maxWaiting,
    ...(weights !== undefined && { maxWeight: weights.maxWaiting, weightPerTurn: weights.maxBatch / maxBatch }),
    ...(options.keyOf !== undefined && { share: shareOfFree }),
  });
  const underWay = new Set<Batch<Item, Result>>();
  let isTurnAwaited = false;

  /** Returns the function that reports the outcome to everyone in the batch. */
  async function flush(batch: Batch<Item, Result>): Promise<() => void> {
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

  /** Whether a batch may begin though others are in progress. */
  const mayOverlap = () => underWay.size < overlap.depth && ("byKey" in overlap || queue.size >= overlap.from);

  /** Takes the items of a batch that may begin now, if there is one. */
  function next(): Batch<Item, Result> | undefined {
    if (queue.size === 0 || (underWay.size > 0 && !mayOverlap())) return undefined;
    const keys = new Set("byKey" in overlap ? [...underWay].flat().map(({ item }) => keyOf(item)) : []);
    const isHeld = keys.size === 0 ? undefined : (key: string) => keys.has(key);
    const batch: Batch<Item, Result> = [];
    const before = queue.weight;
    const fits = (weight: number) =>
      weights === undefined || batch.length === 0 || before - queue.weight + weight <= weights.maxBatch;
    while (batch.length < maxBatch) {
      const taken = queue.take({ fits, isHeld });
      if (taken === undefined) break;
      batch.push(taken);
      if (taken.others !== undefined) batch.push(...taken.others);
    }
    return batch.length === 0 ? undefined : batch;
  }

  async function run(batch: Batch<Item, Result>): Promise<void> {
    underWay.add(batch);
    const tell = await flush(batch);
    underWay.delete(batch);
    runNext(); // before callers get their results, as what they do then would delay the next batch
    tell();
  }

  function runNext(): void {
    for (let batch = next(); batch !== undefined; batch = next()) void run(batch);
  }

  function runAfterTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(() => {
      isTurnAwaited = false;
      runNext();
    });
  }

  function enter(waiting: Waiting<Item, Result>, key: string, weight: number): void {
    queue.add(key, waiting, { weight });
    if ("from" in overlap && mayOverlap()) runNext();
    else if (underWay.size === 0 || mayOverlap()) runAfterTurn();
  }

  return {
    add(item) {
      const weight = weights?.of(item) ?? 0;
      const key = keyOf(item);
      if (!queue.hasRoom(key, weight)) return Promise.reject(options.whenFull());
      return new Promise((resolve, reject) => enter({ item, resolve, reject }, key, weight));
    },
    addTogether(items) {
      const waiting = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
      const [first, ...others] = waiting;
      if (first === undefined) return [];
      const weight = items.reduce((sum, item) => sum + (weights?.of(item) ?? 0), 0);
      const key = keyOf(first.item);
      if (queue.hasRoom(key, weight)) enter({ ...first, others }, key, weight);
      else for (const { reject } of waiting) reject(options.whenFull());
      return waiting.map(({ promise }) => promise);
    },
    hasMore: () => queue.size > 0 || underWay.size > 1,
    *pending() {
      for (const batch of underWay) for (const { item } of batch) yield item;
      for (const { item } of queue.firsts()) yield item;
    },
  };
}
