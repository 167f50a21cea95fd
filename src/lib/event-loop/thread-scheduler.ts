import type { Owner } from "../owner.ts";
import { createFairQueue } from "../queues/fair-queue.ts";
import { amountOf } from "../rates/amount.ts";

/**
 * Shares the thread that serves all connections. Work enters with its organization (or address) and a declared cost, and
 * begins at once while the slice of this turn of the event loop has room; otherwise organizations take turns, and within
 * one its keys and users. Nobody waits while the thread is free: the next turn of the event loop follows at once. Short
 * work of an organization that has nothing waiting goes first (like new flows in RFC 8290, section 4.2).
 */
export type ThreadScheduler = {
  /**
   * Asks for a turn: `undefined` if the work may begin now, otherwise a promise that resolves when it may, or when `owner`
   * closes. Long work asks again before each slice of about a millisecond. The organization is asked for only if it matters, and an
   * owner that is a function only if the work must wait.
   */
  turn(
    org: string | (() => string),
    cost: number,
    options?: { part?: string | undefined; owner?: Owner | (() => Owner) | undefined },
  ): Promise<void> | undefined;
  /** The number of those who wait. */
  readonly waiting: number;
};

type Waiter = { cost: number; begin(): void };

type Options = {
  /** What may begin in one turn of the event loop, in microseconds. The last to begin may exceed it. */
  sliceUs?: number;
  /** Calls back in the next turn of the event loop, after what arrived in this one. */
  defer?: (callback: () => void) => void;
};

/** A slice of the thread: short for everyone who waits, and long beside the 20 µs that a turn of the event loop costs. */
export const threadSliceUs = 1_000;
/** What a turn pays for when organizations take turns: the work of a small request. */
const quantumUs = 25;
/** A tenth of a slice is short. So many short pieces may begin beyond it in one turn, each of an organization that has nothing waiting. */
const shortOnes = 10;

/** Creates the scheduler of a thread on which nobody waits. */
export function createThreadScheduler({
  sliceUs = threadSliceUs,
  defer = setImmediate,
}: Options = {}): ThreadScheduler {
  const queue = createFairQueue<Waiter>({ weightPerTurn: quantumUs });
  let begun = 0; // the cost of what began in this turn of the event loop
  let isTurning = false;
  const newcomers = new Set<string>(); // organizations that began in a full slice in this turn

  function begin(cost: number): void {
    begun += cost;
    if (isTurning) return;
    isTurning = true;
    defer(nextTurn);
  }

  function nextTurn(): void {
    isTurning = false;
    begun = 0;
    newcomers.clear();
    while (begun < sliceUs) {
      const waiter = queue.take();
      if (waiter === undefined) return;
      begin(waiter.cost);
      waiter.begin();
    }
  }

  return {
    turn(org, given, { part = "", owner } = {}) {
      const cost = amountOf(given);
      if (typeof owner === "object" && owner.isClosed) return undefined;
      if (queue.size === 0 && begun < sliceUs) {
        begin(cost);
        return undefined;
      }
      const name = typeof org === "string" ? org : org();
      const isNewcomer = !queue.has(name) && !newcomers.has(name);
      if (isNewcomer && cost <= sliceUs / shortOnes && newcomers.size < shortOnes) {
        newcomers.add(name);
        queue.charge(name, cost);
        begin(cost);
        return undefined;
      }
      return new Promise((resolve) => {
        const waiter: Waiter = {
          cost,
          begin() {
            letGo?.();
            resolve();
          },
        };
        const place = queue.add(name, waiter, { weight: cost, part });
        const letGo = (typeof owner === "function" ? owner() : owner)?.hold(() => {
          queue.remove(place);
          resolve();
        });
      });
    },
    get waiting() {
      return queue.size;
    },
  };
}
