import { createFairQueue, shareOfFree } from "./fair-queue.ts";

/** Collects items into batches: those of one key in order of arrival, keys in turns. */
export type Batcher<Item, Result> = {
  /** Resolves with the item's result once its batch is done; rejects if the batch was rejected. */
  add(item: Item): Promise<Result>;
  /** Whether more is about to end: at the end of a batch, whether items are waiting or another batch is in progress. */
  hasMore(): boolean;
  /** Items that have no result yet; of those that wait for a batch, only the first of each key. */
  pending(): Iterable<Item>;
};

/** When a batch may overlap the previous one: once `from` items wait, with at most `depth` batches in progress. */
export type Pipeline = { depth: number; from: number };

type Waiting<Item, Result> = {
  item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
};

/** Limits by weight, in addition to those by number. An item heavier than a limit goes alone. */
export type Weights<Item> = {
  of(item: Item): number;
  /** Total weight of a batch. */
  maxBatch: number;
  /** Total weight of waiting items. */
  maxWaiting: number;
};

type Amount = { items: number; weight: number };

const turnsPerBatch = 128;
const sharedForMs = 1_000; // after an item of another key than the one before

type Options<Item, Result> = {
  /** Returns one result per item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<Result[]>;
  maxBatch: number;
  /**
   * A batch takes no more of a key than this, as long as items of several keys arrive; without it, there is no such limit.
   * An item that is heavier goes without others of its key. A key that could fill every batch then delays the others by short ones,
   * and every second batch goes without the keys that have more than that waiting.
   */
  maxOfKey?: Amount;
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
  pipeline?: Pipeline | undefined;
};

const unlimited: Amount = { items: Number.POSITIVE_INFINITY, weight: Number.POSITIVE_INFINITY };
const oneAtATime: Pipeline = { depth: 1, from: Number.POSITIVE_INFINITY };

/**
 * Creates a batcher for group commit: items that arrive in one turn of the event loop go together, and items that
 * arrive during a batch go with the next. Nothing waits for a timer.
 */
export function createBatcher<Item, Result>(options: Options<Item, Result>): Batcher<Item, Result> {
  const { depth, from } = options.pipeline ?? oneAtATime;
  const { maxBatch, maxOfKey = unlimited, weights, keyOf = () => "" } = options;
  const queue = createFairQueue<Waiting<Item, Result>>({
    maxItems: options.maxWaiting,
    ...(weights !== undefined && { maxWeight: weights.maxWaiting, weightPerTurn: weights.maxBatch / turnsPerBatch }),
    ...(options.keyOf !== undefined && { share: shareOfFree }),
  });
  const underWay = new Set<Waiting<Item, Result>[]>();
  let isTurnAwaited = false;
  let lastKey: string | undefined;
  let sharedUntil = 0;
  let wasHeavy = false;

  /** Whether more waits under a key than one batch takes of it. */
  function isHeavy(key: string): boolean {
    const { items, weight } = queue.waitingOf(key);
    return items > maxOfKey.items || weight > maxOfKey.weight;
  }

  /** Counts what one batch takes of each key: nothing of heavy ones if it is `light`. */
  function createShares({ isLight }: { isLight: boolean }) {
    const taken = new Map<string, Amount>();
    const heavy = new Map<string, boolean>();
    const takenOf = (key: string): Amount => taken.get(key) ?? { items: 0, weight: 0 };
    return {
      hasHeavy: () => taken.keys().some((key) => heavy.get(key) === true),
      isHeld(key: string, next: number): boolean {
        if (!heavy.has(key)) heavy.set(key, isHeavy(key));
        if (isLight && heavy.get(key) === true) return true;
        const { items, weight } = takenOf(key);
        return items >= maxOfKey.items || (items > 0 && weight + next > maxOfKey.weight);
      },
      count(item: Item): void {
        const key = keyOf(item);
        const { items, weight } = takenOf(key);
        taken.set(key, { items: items + 1, weight: weight + (weights?.of(item) ?? 0) });
      },
    };
  }

  function note(key: string): void {
    if (key === lastKey) return;
    if (lastKey !== undefined) sharedUntil = performance.now() + sharedForMs;
    lastKey = key;
  }

  /** Returns the function that reports the outcome to everyone in the batch. */
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

  /** Takes the items of the next batch. */
  function take(): Waiting<Item, Result>[] {
    if (performance.now() >= sharedUntil) return takeSome(undefined);
    if (wasHeavy) {
      wasHeavy = false;
      const light = takeSome(createShares({ isLight: true }));
      if (light.length > 0) return light;
    }
    const shares = createShares({ isLight: false });
    const batch = takeSome(shares);
    wasHeavy = shares.hasHeavy();
    return batch;
  }

  function takeSome(shares: ReturnType<typeof createShares> | undefined): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    const before = queue.weight;
    const fits = (weight: number) =>
      weights === undefined || batch.length === 0 || before - queue.weight + weight <= weights.maxBatch;
    const conditions = { fits, isHeld: shares?.isHeld };
    while (batch.length < maxBatch) {
      const next = queue.take(conditions);
      if (next === undefined) break;
      batch.push(next);
      shares?.count(next.item);
    }
    return batch;
  }

  async function run(): Promise<void> {
    const batch = take();
    underWay.add(batch);
    const tell = await flush(batch);
    underWay.delete(batch);
    if (mayRun()) void run(); // before callers get their results, as what they do then would delay the next batch
    tell();
  }

  const mayOverlap = () => underWay.size < depth && queue.size >= from;
  const mayRun = () => mayOverlap() || (underWay.size === 0 && queue.size > 0);

  function runAfterTurn(): void {
    if (underWay.size > 0 || isTurnAwaited) return;
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
        note(key);
        queue.add(key, { item, resolve, reject }, weight);
        if (mayOverlap()) void run();
        else runAfterTurn();
      });
    },
    hasMore: () => queue.size > 0 || underWay.size > 1,
    *pending() {
      for (const batch of underWay) for (const { item } of batch) yield item;
      for (const { item } of queue.firsts()) yield item;
    },
  };
}
