import { createLinkedList, type Link } from "./linked-list.ts";

/** What belongs to a key, and what the key may still take in its turn; less than nothing if it took more. */
export type Lane<Content> = { readonly key: string; readonly content: Content; credit: number };

/** Keys that take turns by deficit round robin (Shreedhar and Varghese, 1995), in the form that takes first and then pays. */
export type RoundRobin<Content> = {
  get(key: string): Content | undefined;
  /** Adds a new key behind the others. */
  add(key: string, content: Content): void;
  /** The key whose turn it is. It stays the next until its credit is used up; held ones lose their turn. */
  next(isHeld?: (lane: Lane<Content>) => boolean): Lane<Content> | undefined;
  /** Charges the key for what was taken in its turn. */
  charge(key: string, cost: number): void;
  remove(key: string): void;
  contents(): Iterable<Content>;
  readonly size: number;
};

/**
 * Creates turns without keys. Each turn gives a key `quantum` more to take; one that took too much skips turns until that is
 * paid. A key that is alone skips none.
 */
export function createRoundRobin<Content>(quantum: number): RoundRobin<Content> {
  const lanes = new Map<string, Link<Lane<Content>>>();
  const turns = createLinkedList<Lane<Content>>();

  return {
    get: (key) => lanes.get(key)?.value.content,
    add(key, content) {
      lanes.set(key, turns.append({ key, content, credit: quantum }));
    },
    next(isHeld) {
      let passedOver = 0;
      for (let turn = turns.first; turn !== undefined && passedOver < lanes.size; turn = turns.first) {
        const lane = turn.value;
        if (isHeld?.(lane)) {
          passedOver++;
        } else {
          if (lane.credit > 0 || lanes.size === 1) return lane;
          passedOver = 0;
          lane.credit += quantum;
        }
        turns.moveToEnd(turn);
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
      turns.moveToEnd(turn);
    },
    remove(key) {
      const turn = lanes.get(key);
      if (turn === undefined) return;
      lanes.delete(key);
      turns.remove(turn);
    },
    *contents() {
      for (const { value } of lanes.values()) yield value.content;
    },
    get size() {
      return lanes.size;
    },
  };
}
