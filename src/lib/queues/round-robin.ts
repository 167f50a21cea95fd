import { append, createLinkedList, type Link, moveToEnd, remove } from "./linked-list.ts";

/** What belongs to a key, and what the key may still take in its turn; less than nothing if it took more. */
export type Lane<Content> = { readonly key: string; readonly content: Content; credit: number; isIdle: boolean };

/** Keys that take turns by deficit round robin (Shreedhar and Varghese, 1995), in the form that takes first and then pays. */
export type RoundRobin<Content> = {
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
    remove(turns, turn);
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
