import type { Owner } from "../owner.ts";
import { createLinkedList, type LinkedList } from "../queues/linked-list.ts";

/**
 * Lets a bounded number of callers through per turn, either a turn of the event loop or a fixed time, so that a crowd
 * makes no turn long. Names take turns in order of arrival: a crowd under one name delays another name by one caller.
 */
export type Turnstile = {
  /** Whether there is room now and nobody waits; if so, takes the room, and the caller need not wait. */
  takes(weight?: number): boolean;
  /**
   * Resolves in one of the next turns, or when `owner` closes, so that callers who left do not block others. The number
   * of waiting callers is not limited here: each should wait at most once at a time.
   */
  wait(name: string, waiting?: Waiting): Promise<void>;
  /** Resolves at once if this turn has room and no other caller of this name waits; otherwise like `wait`. */
  pass(name: string, waiting?: Waiting): Promise<void>;
  /** Lets everyone through, waiting or new. */
  open(): void;
  /** The number of waiting callers. */
  readonly waiting: number;
};

/** The share of a turn that a caller uses, 1 by default, and the owner it ends with. */
type Waiting = { weight?: number; owner?: Owner | undefined };

type Options = {
  /** Whether at most one caller of this name is let through per turn, however much room there is. */
  isSlow?: (name: string) => boolean;
  /**
   * The length of a turn; by default, a turn of the event loop. In timed turns, a caller heavier than a turn uses up
   * the following ones, too.
   */
  turnMs?: number;
  /** Called in the turn after one that let somebody through, once waiting callers had their turn. */
  onTurn?: () => void;
};

type Place = { weight: number; go(): void };

/**
 * Creates a turnstile that lets callers through while those of the turn weigh less than `perTurn` at that time; so the last
 * one may exceed it.
 */
export function createTurnstile(
  perTurn: number | (() => number),
  { isSlow = () => false, turnMs, onTurn }: Options = {},
): Turnstile {
  const crowds = new Map<string, LinkedList<Place>>();
  const slow = new Set<string>();
  const mostOfTurn = typeof perTurn === "function" ? perTurn : () => perTurn;
  let passed = 0;
  let waiting = 0;
  let isOpen = false;

  function spend(weight: number): void {
    if (passed === 0) endTurn();
    passed += weight;
  }

  /** Takes room in this turn, if there is any; a slow name gets it once. */
  function takeRoom(name: string, weight: number): boolean {
    if (passed >= mostOfTurn() || slow.has(name)) return false;
    if (isSlow(name)) slow.add(name);
    spend(weight);
    return true;
  }

  function endTurn(): void {
    if (turnMs === undefined) setImmediate(beginTurn);
    else setTimeout(beginTurn, turnMs);
  }

  function beginTurn(): void {
    passed = turnMs === undefined ? 0 : Math.max(0, passed - mostOfTurn());
    slow.clear();
    if (passed > 0) endTurn();
    letThrough();
    onTurn?.();
  }

  function letThrough(): void {
    // A name that is set again is visited again in this loop, after all others.
    for (const [name, crowd] of crowds) {
      if (passed >= mostOfTurn()) return;
      const { first } = crowd;
      if (first === undefined || !takeRoom(name, first.value.weight)) continue;
      first.value.go();
      if (!crowds.delete(name) || crowd.first === undefined) continue;
      crowds.set(name, crowd);
    }
  }

  function wait(name: string, { weight = 1, owner }: Waiting = {}): Promise<void> {
    if (isOpen || owner?.isClosed) return Promise.resolve();
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
      const link = crowd.append({ weight, go });
      waiting++;
      const letGo = owner?.hold(go);
    });
  }

  return {
    takes(weight = 1) {
      if (crowds.size > 0 || passed >= mostOfTurn()) return false;
      spend(weight);
      return true;
    },
    wait,
    async pass(name, entering) {
      if (isOpen || entering?.owner?.isClosed) return;
      if (crowds.has(name) || !takeRoom(name, entering?.weight ?? 1)) await wait(name, entering);
    },
    open() {
      isOpen = true;
      for (const crowd of crowds.values())
        for (let { first } = crowd; first !== undefined; first = crowd.first) first.value.go();
    },
    get waiting() {
      return waiting;
    },
  };
}
