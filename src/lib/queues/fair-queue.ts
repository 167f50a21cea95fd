import { amountOf } from "../rates/amount.ts";
import {
  append,
  createLinkedList,
  type Link,
  type LinkedList,
  moveToEnd,
  remove as removeLink,
} from "./linked-list.ts";

/** A waiting item with its keys and weight. */
export type Waiting<Item> = {
  readonly item: Item;
  readonly key: string;
  readonly part: string;
  readonly weight: number;
};

/**
 * A queue in which keys take turns, such as organizations, and within a key its parts, such as users: however many items
 * wait under one key, another key's first item follows after one item of each.
 */
export type FairQueue<Item> = {
  /**
   * Whether an item of this weight may wait under `key`. A key's first item is never refused because of another key's
   * share.
   */
  hasRoom(key: string, weight?: number): boolean;
  /** Adds an item behind those of its key and part, even if there is no room. Pass the link to `remove` to take it out again. */
  add(key: string, item: Item, options?: { weight?: number; part?: string }): Link<Waiting<Item>>;
  /** Takes the next item. If it does not fit, it stays the next; keys whose next item is held are passed over. */
  take(conditions?: Conditions): Item | undefined;
  /** Whether anything waits under a key, or it has taken more than its turns have paid for. */
  has(key: string): boolean;
  /** Charges a key for what it takes without waiting, while others wait. */
  charge(key: string, weight: number): void;
  /** The first waiting item of each part of a key, which has waited longest there. */
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
  /** The weight that a key may take in a turn, where an item is at least 1; by default, it is one item. */
  weightPerTurn?: number;
  /** A key may have this multiple of the free room waiting. */
  share?: number;
};

type Parts<Item> = { turns: RoundRobin<LinkedList<Waiting<Item>>>; size: number; weight: number };

/**
 * Creates an empty queue. Keys take turns in order of arrival, and so do the parts of a key; the items of a part keep their
 * order. A key is forgotten once nothing waits under it and it has paid for its turns.
 */
export function createFairQueue<Item>(options: Options = {}): FairQueue<Item> {
  const { maxItems = Infinity, maxWeight = Infinity, weightPerTurn, share = Infinity } = options;
  const quantum = weightPerTurn ?? 1;
  const turns = createRoundRobin<Parts<Item>>(quantum);
  let size = 0;
  let weight = 0;

  const createParts = (): Parts<Item> => ({ turns: createRoundRobin(quantum), size: 0, weight: 0 });
  const firstOf = ({ turns: parts }: Parts<Item>) => parts.next()?.content.first;

  function remove(link: Link<Waiting<Item>>): void {
    const { key, part, weight: removed } = link.value;
    const parts = turns.get(key);
    const items = parts?.turns.get(part);
    if (parts === undefined || items === undefined) return;
    removeLink(items, link);
    if (items.first === undefined) parts.turns.leave(part);
    parts.size--;
    parts.weight -= removed;
    size--;
    weight -= removed;
    if (parts.size === 0) turns.leave(key);
  }

  return {
    hasRoom(key, more = 0) {
      const added = amountOf(more);
      if (size >= maxItems || (size > 0 && weight + added > maxWeight)) return false;
      const parts = turns.get(key);
      if (parts === undefined || share === Infinity) return true;
      return parts.size < share * (maxItems - size) && parts.weight + added <= share * (maxWeight - weight);
    },
    add(key, item, { weight: more = 0, part = "" } = {}) {
      const added = amountOf(more);
      const parts = turns.enter(key, createParts);
      parts.size++;
      parts.weight += added;
      size++;
      weight += added;
      return append(parts.turns.enter(part, createLinkedList<Waiting<Item>>), { item, key, part, weight: added });
    },
    take({ fits, isHeld } = {}) {
      const lane = turns.next(isHeld && (({ key, content }) => isHeld(key, firstOf(content)?.value.weight ?? 0)));
      const link = lane === undefined ? undefined : firstOf(lane.content);
      if (lane === undefined || link === undefined || fits?.(link.value.weight) === false) return undefined;
      const cost = weightPerTurn === undefined ? 1 : Math.max(1, link.value.weight);
      lane.content.turns.charge(link.value.part, cost);
      turns.charge(lane.key, cost);
      remove(link);
      return link.value.item;
    },
    has: (key) => turns.get(key) !== undefined,
    charge(key, taken) {
      const { size: waiting } = turns.enter(key, createParts);
      turns.charge(key, taken);
      if (waiting === 0) turns.leave(key);
    },
    *firsts() {
      for (const { turns: parts } of turns.contents())
        for (const items of parts.contents()) if (items.first !== undefined) yield items.first.value.item;
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

/** What belongs to a key, and what the key may still take in its turn; less than nothing if it took more. */
type Lane<Content> = { readonly key: string; readonly content: Content; credit: number; isIdle: boolean };

/** Keys that take turns by deficit round robin (Shreedhar and Varghese, 1995), in the form that takes first and then pays. */
type RoundRobin<Content> = {
  get(key: string): Content | undefined;
  /** Lets a key wait for turns, behind the others if it is new, and returns what belongs to it. */
  enter(key: string, create: () => Content): Content;
  /** The key whose turn it is. It stays the next until its credit is used up; held ones lose their turn. */
  next(isHeld?: (lane: Lane<Content>) => boolean): Lane<Content> | undefined;
  /** Charges the key for what was taken in its turn. */
  charge(key: string, cost: number): void;
  /**
   * Tells that nothing waits under the key any more. What it took too much is forgotten only once it is paid or nobody waits, so
   * that work which asks again and again, one piece at a time, takes no more than its share.
   */
  leave(key: string): void;
  contents(): Iterable<Content>;
};

/**
 * Creates turns without keys. Each turn gives a key `quantum` more to take; one that took too much skips turns until that is
 * paid. A key that is alone skips none.
 */
export function createRoundRobin<Content>(quantum: number): RoundRobin<Content> {
  const lanes = new Map<string, Link<Lane<Content>>>();
  const turns = createLinkedList<Lane<Content>>();
  let waiting = 0;

  function drop(turn: Link<Lane<Content>>): void {
    lanes.delete(turn.value.key);
    removeLink(turns, turn);
  }

  return {
    get: (key) => lanes.get(key)?.value.content,
    enter(key, create) {
      let turn = lanes.get(key);
      if (turn === undefined) {
        turn = append(turns, { key, content: create(), credit: quantum, isIdle: true });
        lanes.set(key, turn);
      }
      const { value: lane } = turn;
      if (lane.isIdle) waiting++;
      lane.isIdle = false;
      return lane.content;
    },
    next(isHeld) {
      let passedOver = 0;
      for (let turn = turns.first; turn !== undefined && passedOver < lanes.size; turn = turns.first) {
        const lane = turn.value;
        if (lane.isIdle && lane.credit > 0) {
          drop(turn);
          continue;
        }
        if (!lane.isIdle && isHeld?.(lane)) {
          passedOver++;
        } else {
          if (!lane.isIdle && (lane.credit > 0 || lanes.size === 1)) return lane;
          passedOver = 0;
          lane.credit += quantum;
        }
        moveToEnd(turns, turn);
      }
      return undefined;
    },
    charge(key, cost) {
      const turn = lanes.get(key);
      if (turn === undefined) return;
      const { value: lane } = turn;
      lane.credit = lanes.size === 1 ? quantum : lane.credit - cost;
      if (lane.credit > 0) return;
      lane.credit += quantum;
      moveToEnd(turns, turn);
    },
    leave(key) {
      const turn = lanes.get(key);
      if (turn === undefined || turn.value.isIdle) return;
      turn.value.isIdle = true;
      waiting--;
      if (waiting === 0) for (const each of lanes.values()) drop(each);
      else if (turn.value.credit >= quantum) drop(turn);
    },
    *contents() {
      for (const { value } of lanes.values()) yield value.content;
    },
  };
}
