import { createLinkedList, type LinkedList } from "./linked-list.ts";

/**
 * Lets a bounded number through in each turn of the event loop: a crowd makes no turn long. Those who wait take turns by name,
 * in the order in which names came: a crowd of one name holds up another name by one.
 */
export type Turnstile = {
  /** Resolves at once while this turn has room, else in one of the next. Whoever calls waits once at a time: nothing else bounds how many wait. */
  pass(name: string): Promise<void>;
};

/** A turnstile that lets `perTurn` through in a turn, and one of each name that `isSlow` however much room there is. */
export function createTurnstile(perTurn: number, isSlow: (name: string) => boolean = () => false): Turnstile {
  const waiting = new Map<string, LinkedList<() => void>>();
  const slow = new Set<string>();
  let passed = 0;

  /** Whether there is room in this turn, which it takes; a slow name has it once. */
  function takeRoom(name: string): boolean {
    if (passed >= perTurn || slow.has(name)) return false;
    if (isSlow(name)) slow.add(name);
    if (passed === 0) setImmediate(beginTurn);
    passed++;
    return true;
  }

  function beginTurn(): void {
    passed = 0;
    slow.clear();
    // A name that is set again comes up again in this loop, after all others.
    for (const [name, crowd] of waiting) {
      if (passed >= perTurn) return;
      const { first } = crowd;
      if (first === undefined || !takeRoom(name)) continue;
      crowd.remove(first);
      waiting.delete(name);
      if (crowd.first !== undefined) waiting.set(name, crowd);
      first.value();
    }
  }

  return {
    pass: (name) =>
      new Promise((resolve) => {
        if (!waiting.has(name) && takeRoom(name)) return resolve();
        const crowd = waiting.get(name) ?? createLinkedList();
        crowd.append(resolve);
        waiting.set(name, crowd);
      }),
  };
}
