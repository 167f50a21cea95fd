import { createFairQueue, shareOfFree } from "./fair-queue.ts";
import { type Amount, createRecentUse } from "./recent-use.ts";
import { createSharing } from "./sharing.ts";

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

/**
 * How batches overlap. `"lanes"`, for a `flush` that takes batches of different keys at the same time: those of keys
 * with more than `maxOfKey`, waiting or lately, go beside those of the others, and neither wait for each other.
 */
export type Overlap = Pipeline | "lanes";

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

/** Which keys a batch is for: those with more waiting than it takes of one, the others, or all. */
type Lane = "heavy" | "light" | "all";

type Batch<Item, Result> = { lane: Lane; items: Waiting<Item, Result>[] };

const turnsPerBatch = 128;
const latelyMs = 250;

type Options<Item, Result> = {
  /** Returns one result per item, in order. A rejection rejects the whole batch. */
  flush(items: Item[]): Promise<Result[]>;
  maxBatch: number;
  /**
   * A batch takes no more of a key than this, as long as items of several keys arrive; without it, there is no such limit.
   * An item that is heavier goes without others of its key. A key that could fill every batch then delays the others by short ones,
   * and every second batch goes without the keys that have more than that waiting, unless those have a lane of their own.
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
  overlap?: Overlap | undefined;
  /** A clock in milliseconds that never goes back. */
  now?: () => number;
};

const unlimited: Amount = { items: Number.POSITIVE_INFINITY, weight: Number.POSITIVE_INFINITY };
const oneAtATime: Pipeline = { depth: 1, from: Number.POSITIVE_INFINITY };

/**
 * Creates a batcher for group commit: items that arrive in one turn of the event loop go together, and items that
 * arrive during a batch go with the next. Nothing waits for a timer.
 */
export function createBatcher<Item, Result>(options: Options<Item, Result>): Batcher<Item, Result> {
  const hasLanes = options.overlap === "lanes";
  const { depth, from } = typeof options.overlap === "object" ? options.overlap : oneAtATime;
  const { maxBatch, maxOfKey = unlimited, weights, keyOf = () => "" } = options;
  const queue = createFairQueue<Waiting<Item, Result>>({
    maxItems: options.maxWaiting,
    ...(weights !== undefined && { maxWeight: weights.maxWaiting, weightPerTurn: weights.maxBatch / turnsPerBatch }),
    ...(options.keyOf !== undefined && { share: shareOfFree }),
  });
  const underWay = new Set<Batch<Item, Result>>();
  let isTurnAwaited = false;
  const { note, isShared } = createSharing(options.now);
  const lately = createRecentUse(latelyMs, options.now);
  let wasHeavy = false;

  /**
   * Whether more waits under a key than one batch takes of it; with lanes, together with what it had in batches lately.
   */
  function isHeavy(key: string): boolean {
    const [waiting, used] = [queue.waitingOf(key), lately.of(key)];
    return waiting.items + used.items > maxOfKey.items || waiting.weight + used.weight > maxOfKey.weight;
  }

  /** Counts what one batch takes of each key. */
  function createShares(lane: Lane) {
    const taken = new Map<string, Amount>();
    const heavy = new Map<string, boolean>();
    const takenOf = (key: string): Amount => taken.get(key) ?? { items: 0, weight: 0 };
    return {
      hasHeavy: () => taken.keys().some((key) => heavy.get(key) === true),
      isHeld(key: string, next: number): boolean {
        if (!heavy.has(key)) heavy.set(key, isHeavy(key));
        if (lane !== "all" && heavy.get(key) !== (lane === "heavy")) return true;
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

  /** Takes the items of a batch that may begin now, if there is one. */
  function next(): Batch<Item, Result> | undefined {
    if (queue.size === 0) return undefined;
    if (hasLanes) return isShared() ? (takeLane("light") ?? takeLane("heavy")) : takeLane("all");
    return underWay.size === 0 || mayOverlap() ? { lane: "all", items: takeInTurns() } : undefined;
  }

  /** Takes what waits for a lane, but for keys that are under way in the other. */
  function takeLane(lane: Lane): Batch<Item, Result> | undefined {
    if (isBusy(lane)) return undefined;
    const others = new Set([...underWay].flatMap(({ items }) => items.map(({ item }) => keyOf(item))));
    const items = takeSome(lane === "all" ? undefined : createShares(lane), others);
    return items.length === 0 ? undefined : { lane, items };
  }

  /** Only one lane may take all keys at a time, and it is heavy. */
  const isBusy = (lane: Lane) => underWay.values().some((batch) => (batch.lane === "light") === (lane === "light"));

  const laneOf = (key: string): Lane => (isShared() && !isHeavy(key) ? "light" : "heavy");

  /** Takes every second batch without heavy keys. */
  function takeInTurns(): Waiting<Item, Result>[] {
    if (!isShared()) return takeSome(undefined);
    if (wasHeavy) {
      wasHeavy = false;
      const light = takeSome(createShares("light"));
      if (light.length > 0) return light;
    }
    const shares = createShares("all");
    const items = takeSome(shares);
    wasHeavy = shares.hasHeavy();
    return items;
  }

  function takeSome(
    shares: ReturnType<typeof createShares> | undefined,
    others?: ReadonlySet<string>,
  ): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    const before = queue.weight;
    const fits = (weight: number) =>
      weights === undefined || batch.length === 0 || before - queue.weight + weight <= weights.maxBatch;
    const isHeld = (key: string, weight: number) => others?.has(key) || shares?.isHeld(key, weight) || false;
    while (batch.length < maxBatch) {
      const taken = queue.take({ fits, isHeld });
      if (taken === undefined) break;
      batch.push(taken);
      shares?.count(taken.item);
      if (hasLanes && shares !== undefined) lately.note(keyOf(taken.item), weights?.of(taken.item) ?? 0);
    }
    return batch;
  }

  async function run(batch: Batch<Item, Result>): Promise<void> {
    underWay.add(batch);
    const tell = await flush(batch.items);
    underWay.delete(batch);
    runNext(); // before callers get their results, as what they do then would delay the next batch
    tell();
  }

  function runNext(): void {
    for (let batch = next(); batch !== undefined; batch = next()) void run(batch);
  }

  const mayOverlap = () => underWay.size < depth && queue.size >= from;

  function runAfterTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(() => {
      isTurnAwaited = false;
      runNext();
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
        if (mayOverlap()) runNext();
        else if (hasLanes ? !isBusy(laneOf(key)) : underWay.size === 0) runAfterTurn();
      });
    },
    hasMore: () => queue.size > 0 || underWay.size > 1,
    *pending() {
      for (const { items } of underWay) for (const { item } of items) yield item;
      for (const { item } of queue.firsts()) yield item;
    },
  };
}
