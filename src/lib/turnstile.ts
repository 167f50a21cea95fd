import { createLinkedList, type LinkedList } from "./linked-list.ts";
import type { Owner } from "./owner.ts";

/**
 * Lets a bounded number through in each turn, which is one of the event loop unless it is a time: a crowd makes no turn long. Those
 * who wait take turns by name, in the order in which names came: a crowd of one name holds up another name by one.
 */
export type Turnstile = {
  /**
   * Resolves at once while this turn has room, else in one of the next; or when `owner` closes, since whoever has gone keeps nobody
   * waiting. Whoever calls waits once at a time: nothing else bounds how many wait.
   */
  pass(name: string, owner?: Owner): Promise<void>;
  /** Lets everybody through who waits and who comes. */
  open(): void;
  /** How many wait. */
  readonly waiting: number;
};

type Options = {
  /** Whether one of this name is let through in a turn, however much room there is. */
  isSlow?: (name: string) => boolean;
  /** How long a turn is; without it, it is one of the event loop. */
  turnMs?: number;
};

/** A turnstile that lets `perTurn` through in a turn. */
export function createTurnstile(perTurn: number, { isSlow = () => false, turnMs }: Options = {}): Turnstile {
  const crowds = new Map<string, LinkedList<() => void>>();
  const slow = new Set<string>();
  let passed = 0;
  let waiting = 0;
  let isOpen = false;

  /** Whether there is room in this turn, which it takes; a slow name has it once. */
  function takeRoom(name: string): boolean {
    if (passed >= perTurn || slow.has(name)) return false;
    if (isSlow(name)) slow.add(name);
    if (passed === 0) endTurn();
    passed++;
    return true;
  }

  function endTurn(): void {
    if (turnMs === undefined) setImmediate(beginTurn);
    else setTimeout(beginTurn, turnMs);
  }

  function beginTurn(): void {
    passed = 0;
    slow.clear();
    // A name that is set again comes up again in this loop, after all others.
    for (const [name, crowd] of crowds) {
      if (passed >= perTurn) return;
      if (!takeRoom(name)) continue;
      crowd.first?.value();
      if (!crowds.delete(name) || crowd.first === undefined) continue;
      crowds.set(name, crowd);
    }
  }

  function wait(name: string, owner: Owner | undefined): Promise<void> {
    return new Promise((resolve) => {
      const crowd = crowds.get(name) ?? createLinkedList();
      crowds.set(name, crowd);
      const go = () => {
        waiting--;
        crowd.remove(link);
        if (crowd.first === undefined) crowds.delete(name);
        letGo?.();
        resolve();
      };
      const link = crowd.append(go);
      waiting++;
      const letGo = owner?.hold(go);
    });
  }

  return {
    async pass(name, owner) {
      if (isOpen || owner?.isClosed) return;
      if (crowds.has(name) || !takeRoom(name)) await wait(name, owner);
    },
    open() {
      isOpen = true;
      for (const crowd of crowds.values())
        for (let { first } = crowd; first !== undefined; first = crowd.first) first.value();
    },
    get waiting() {
      return waiting;
    },
  };
}
