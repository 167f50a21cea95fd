import { createLinkedList, type Link, type LinkedList } from "./linked-list.ts";

/** What waits, for whom, and what it weighs. */
export type Waiting<Item> = { readonly item: Item; readonly key: string; readonly weight: number };

/** A queue in which keys take turns: however much waits for one, another's first item is next after one item of each. */
export type FairQueue<Item> = {
  /** Whether an item of this weight may wait for `key`. Nobody's first item is refused because of what others have waiting. */
  hasRoom(key: string, weight?: number): boolean;
  /** Adds an item behind those of its key, whether there is room or not. The link takes it out again. */
  add(key: string, item: Item, weight?: number): Link<Waiting<Item>>;
  /** Takes the item whose turn it is. One that does not fit stays the next. */
  take(fits?: (weight: number) => boolean): Item | undefined;
  /** Takes out an item that waits. */
  remove(link: Link<Waiting<Item>>): void;
  /** How many items wait, and what they weigh together. */
  readonly size: number;
  readonly weight: number;
};

/** The `share` of a queue for many who do not know of one another: one alone may have 80 % of what may wait, two 44 % each. */
export const shareOfFree = 4;

type Options = {
  /** How many items may wait, and how much weight. An item that is heavier waits alone. */
  maxItems?: number;
  maxWeight?: number;
  /** For each of these that an item weighs, its key misses a turn. */
  weightPerTurn?: number;
  /** One key may have waiting what is still free, this many times. */
  share?: number;
};

type Lane<Item> = { items: LinkedList<Waiting<Item>>; size: number; weight: number; turnsToMiss: number };

/**
 * An empty queue. Keys take turns in the order in which they came, an item each (surplus round robin); the items of a key keep
 * their order. A key is forgotten when nothing waits for it.
 */
export function createFairQueue<Item>(options: Options = {}): FairQueue<Item> {
  const { maxItems = Infinity, maxWeight = Infinity, weightPerTurn = Infinity, share = Infinity } = options;
  const lanes = new Map<string, Link<Lane<Item>>>();
  const turns = createLinkedList<Lane<Item>>();
  let size = 0;
  let weight = 0;

  function laneOf(key: string): Lane<Item> {
    const known = lanes.get(key);
    if (known !== undefined) return known.value;
    const link = turns.append({ items: createLinkedList(), size: 0, weight: 0, turnsToMiss: 0 });
    lanes.set(key, link);
    return link.value;
  }

  function remove(link: Link<Waiting<Item>>): void {
    const { key, weight: removed } = link.value;
    const lane = lanes.get(key);
    if (lane === undefined) return;
    lane.value.items.remove(link);
    lane.value.size--;
    lane.value.weight -= removed;
    size--;
    weight -= removed;
    if (lane.value.size > 0) return;
    lanes.delete(key);
    turns.remove(lane);
  }

  return {
    hasRoom(key, added = 0) {
      if (size >= maxItems || (size > 0 && weight + added > maxWeight)) return false;
      const lane = lanes.get(key)?.value;
      if (lane === undefined || share === Infinity) return true;
      return lane.size < share * (maxItems - size) && lane.weight + added <= share * (maxWeight - weight);
    },
    add(key, item, added = 0) {
      const lane = laneOf(key);
      lane.size++;
      lane.weight += added;
      size++;
      weight += added;
      return lane.items.append({ item, key, weight: added });
    },
    take(fits) {
      for (let turn = turns.first; turn !== undefined; turn = turns.first) {
        const lane = turn.value;
        const link = lane.items.first;
        if (link === undefined) return undefined;
        if (lane.turnsToMiss > 0) {
          lane.turnsToMiss--;
          turns.moveToEnd(turn);
          continue;
        }
        const next = link.value;
        if (fits?.(next.weight) === false) return undefined;
        lane.turnsToMiss = Math.floor(next.weight / weightPerTurn);
        turns.moveToEnd(turn);
        remove(link);
        return next.item;
      }
      return undefined;
    },
    remove,
    get size() {
      return size;
    },
    get weight() {
      return weight;
    },
  };
}
