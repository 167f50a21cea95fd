import { amountOf } from "../rates/amount.ts";
import { createLinkedList, type Link, type LinkedList } from "./linked-list.ts";

/** A waiting item with its key and weight. */
export type Waiting<Item> = { readonly item: Item; readonly key: string; readonly weight: number };

/**
 * A queue in which keys take turns: however many items wait under one key, another key's first item follows after one
 * item of each.
 */
export type FairQueue<Item> = {
  /**
   * Whether an item of this weight may wait under `key`. A key's first item is never refused because of another key's
   * share.
   */
  hasRoom(key: string, weight?: number): boolean;
  /** Adds an item behind those of its key, even if there is no room. Pass the link to `remove` to take it out again. */
  add(key: string, item: Item, weight?: number): Link<Waiting<Item>>;
  /** Takes the next item. If it does not fit, it stays the next; keys whose next item is held are passed over. */
  take(conditions?: Conditions): Item | undefined;
  /** How many items wait under a key, and their weight. */
  waitingOf(key: string): { items: number; weight: number };
  /** The first waiting item of each key, which has waited longest under it. */
  firsts(): Iterable<Item>;
  /** Removes a waiting item. */
  remove(link: Link<Waiting<Item>>): void;
  /** The number of waiting items, and their total weight. */
  readonly size: number;
  readonly weight: number;
};

type Conditions = {
  fits?: (weight: number) => boolean;
  isHeld?: ((key: string, weight: number) => boolean) | undefined;
};

/** The `share` for independent keys: one key alone may use 80 % of the queue, two 44 % each. */
export const shareOfFree = 4;

type Options = {
  /** How many items, and how much weight, may wait. A heavier item may wait alone. */
  maxItems?: number;
  maxWeight?: number;
  /** An item's key skips one turn for each multiple of this weight. */
  weightPerTurn?: number;
  /** A key may have this multiple of the free room waiting. */
  share?: number;
};

type Lane<Item> = { items: LinkedList<Waiting<Item>>; size: number; weight: number; turnsToMiss: number };

/**
 * Creates an empty queue. Keys take turns in order of arrival, one item each (surplus round robin); each key's items
 * keep their order. A key is forgotten once nothing waits under it.
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
    hasRoom(key, more = 0) {
      const added = amountOf(more);
      if (size >= maxItems || (size > 0 && weight + added > maxWeight)) return false;
      const lane = lanes.get(key)?.value;
      if (lane === undefined || share === Infinity) return true;
      return lane.size < share * (maxItems - size) && lane.weight + added <= share * (maxWeight - weight);
    },
    add(key, item, more = 0) {
      const added = amountOf(more);
      const lane = laneOf(key);
      lane.size++;
      lane.weight += added;
      size++;
      weight += added;
      return lane.items.append({ item, key, weight: added });
    },
    take({ fits, isHeld } = {}) {
      let passedOver = 0;
      for (let turn = turns.first; turn !== undefined && passedOver < lanes.size; turn = turns.first) {
        const lane = turn.value;
        const link = lane.items.first;
        if (link === undefined) return undefined;
        const next = link.value;
        if (isHeld?.(next.key, next.weight)) {
          passedOver++;
          turns.moveToEnd(turn);
          continue;
        }
        passedOver = 0;
        if (lane.turnsToMiss > 0) {
          lane.turnsToMiss--;
          turns.moveToEnd(turn);
          continue;
        }
        if (fits?.(next.weight) === false) return undefined;
        lane.turnsToMiss = Math.floor(next.weight / weightPerTurn);
        turns.moveToEnd(turn);
        remove(link);
        return next.item;
      }
      return undefined;
    },
    waitingOf(key) {
      const lane = lanes.get(key)?.value;
      return { items: lane?.size ?? 0, weight: lane?.weight ?? 0 };
    },
    *firsts() {
      for (const { value } of lanes.values()) if (value.items.first !== undefined) yield value.items.first.value.item;
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
