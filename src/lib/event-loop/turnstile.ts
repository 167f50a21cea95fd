import type { Owner } from "../owner.ts";
import { createLinkedList, type LinkedList } from "../queues/linked-list.ts";
import { amountOf } from "../rates/amount.ts";

/**
 * Lets a bounded number of callers through per turn, either a turn of the event loop or a fixed time, so that a crowd
 * makes no turn long. Names take turns in order of arrival: a crowd under one name delays another name by one caller.
 */
export type Turnstile = {
  /**
   * Whether there is room now and nobody waits, or nobody of this name; if so, takes the room, and the caller need not
   * wait. Without a name, nothing counts toward a limit of names.
   */
  takes(weight?: number, name?: string): boolean;
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
  /**
   * Callers of a name are let through while they weigh less than `mostOf` together, per turn or within `ms` from the
   * first one, however much room there is.
   */
  names?: { mostOf(name: string): number; ms?: number };
  /**
   * The length of a turn; by default, a turn of the event loop. In timed turns, a caller heavier than a turn uses up
   * the following ones, too.
   */
  turnMs?: number | (() => number | undefined);
  /** Called in the turn after one that let somebody through, once waiting callers had their turn. */
  onTurn?: () => void;
};

type Place = { weight: number; go(): void };

/**
 * Creates a turnstile that lets callers through while those of the turn weigh less than `perTurn` at that time; so the last
 * one may exceed it.
 */
export function createTurnstile(perTurn: number | (() => number), { names, turnMs, onTurn }: Options = {}): Turnstile {
  const crowds = new Map<string, LinkedList<Place>>();
  const passedOf = new Map<string, number>(); // of names with a limit
  const mostOfTurn = typeof perTurn === "function" ? perTurn : () => perTurn;
  let passed = 0;
  let lengthMs: number | undefined; // of this turn
  let waiting = 0;
  let isOpen = false;

  function spend(weight: number): void {
    if (passed === 0) endTurn();
    passed += weight;
  }

  /** Takes room in this turn, if there is any for this name. */
  function takeRoom(name: string, weight: number): boolean {
    if (passed >= mostOfTurn() || !takeOwnRoom(name, weight)) return false;
    spend(weight);
    return true;
  }

  /** Takes room within the limit of a name, if it has one. */
  function takeOwnRoom(name: string, weight: number): boolean {
    const most = names?.mostOf(name) ?? Number.POSITIVE_INFINITY;
    if (most === Number.POSITIVE_INFINITY) return true;
    const own = passedOf.get(name) ?? 0;
    if (own >= most) return false;
    if (names?.ms !== undefined && passedOf.size === 0) setTimeout(forgetNames, names.ms);
    passedOf.set(name, own + weight);
    return true;
  }

  function forgetNames(): void {
    passedOf.clear();
    letThrough();
  }

  function endTurn(): void {
    lengthMs = typeof turnMs === "function" ? turnMs() : turnMs;
    if (lengthMs === undefined) setImmediate(beginTurn);
    else setTimeout(beginTurn, lengthMs);
  }

  function beginTurn(): void {
    passed = lengthMs === undefined ? 0 : Math.max(0, passed - mostOfTurn());
    if (names?.ms === undefined) passedOf.clear();
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

  function wait(name: string, { weight: given = 1, owner }: Waiting = {}): Promise<void> {
    const weight = amountOf(given);
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
    takes(given = 1, name) {
      const weight = amountOf(given);
      if (name !== undefined) return !crowds.has(name) && takeRoom(name, weight);
      if (crowds.size > 0 || passed >= mostOfTurn()) return false;
      spend(weight);
      return true;
    },
    wait,
    async pass(name, entering) {
      if (isOpen || entering?.owner?.isClosed) return;
      if (crowds.has(name) || !takeRoom(name, amountOf(entering?.weight ?? 1))) await wait(name, entering);
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
