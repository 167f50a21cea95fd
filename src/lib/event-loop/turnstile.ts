import type { Owner } from "../owner.ts";
import { createLinkedList, type LinkedList } from "../queues/linked-list.ts";

/**
 * Lets a bounded number through in each turn, which is one of the event loop unless it is a time: a crowd makes no turn long. Those
 * who wait take turns by name, in the order in which names came: a crowd of one name holds up another name by one.
 */
export type Turnstile = {
  /** Whether there is room now and nobody waits: then whoever asks is through, and nothing has to be awaited. */
  takes(weight?: number): boolean;
  /**
   * Resolves in one of the next turns; or when `owner` closes, since whoever has gone keeps nobody waiting. Whoever calls waits once
   * at a time: nothing else bounds how many wait.
   */
  wait(name: string, waiting?: Waiting): Promise<void>;
  /** Resolves at once while this turn has room, unless others of this name wait, else as `wait` does. */
  pass(name: string, waiting?: Waiting): Promise<void>;
  /** Lets everybody through who waits and who comes. */
  open(): void;
  /** How many wait. */
  readonly waiting: number;
};

/** How much of a turn's room somebody takes, 1 unless it is said, and with whom it ends. */
type Waiting = { weight?: number; owner?: Owner | undefined };

type Options = {
  /** Whether one of this name is let through in a turn, however much room there is. */
  isSlow?: (name: string) => boolean;
  /** How long a turn is; without it, it is one of the event loop. What is too heavy for a turn that is a time takes up those after it, too. */
  turnMs?: number;
  /** Called in the turn after one in which somebody was let through, when those who waited have been. */
  onTurn?: () => void;
};

type Place = { weight: number; go(): void };

/** A turnstile that lets through while those of the turn weigh less than `perTurn`: so one may be heavier. */
export function createTurnstile(perTurn: number, { isSlow = () => false, turnMs, onTurn }: Options = {}): Turnstile {
  const crowds = new Map<string, LinkedList<Place>>();
  const slow = new Set<string>();
  let passed = 0;
  let waiting = 0;
  let isOpen = false;

  function spend(weight: number): void {
    if (passed === 0) endTurn();
    passed += weight;
  }

  /** Whether there is room in this turn, which it takes; a slow name has it once. */
  function takeRoom(name: string, weight: number): boolean {
    if (passed >= perTurn || slow.has(name)) return false;
    if (isSlow(name)) slow.add(name);
    spend(weight);
    return true;
  }

  function endTurn(): void {
    if (turnMs === undefined) setImmediate(beginTurn);
    else setTimeout(beginTurn, turnMs);
  }

  function beginTurn(): void {
    passed = turnMs === undefined ? 0 : Math.max(0, passed - perTurn);
    slow.clear();
    if (passed > 0) endTurn();
    letThrough();
    onTurn?.();
  }

  function letThrough(): void {
    // A name that is set again comes up again in this loop, after all others.
    for (const [name, crowd] of crowds) {
      if (passed >= perTurn) return;
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
      if (crowds.size > 0 || passed >= perTurn) return false;
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
