import type { createThreadScheduler, ThreadScheduler } from "../../../src/lib/event-loop/thread-scheduler.ts";
import type { Owner } from "../../../src/lib/owner.ts";
import type { Random } from "../../harness/random.ts";

/** What may begin in a turn of the event loop, and how long a turn takes while there is work. */
export type ThreadClimate = { sliceUs: number; turnMs: number };

/** A node's thread, watched from outside. */
export type WatchedThread = ThreadScheduler & {
  /** How many have asked and are not served, whatever the scheduler says. */
  readonly unserved: number;
  /** How many have had to wait so far. */
  readonly waits: number;
};

type Options = {
  createThread: typeof createThreadScheduler;
  random: Random;
  climate: ThreadClimate;
  /** Called with each broken promise of the scheduler. */
  onError(error: Error): void;
};

type Waiter = { part: string; cost: number; isSettled: boolean };
/** Who waits in an organization, in order, and how much more each other one took since then. */
type Line = { waiters: Waiter[]; behind: Map<string, number> };

/** What organizations may take before they pay: three turns, as the scheduler counts them. */
const creditUs = 3 * 25;

/** Short work, a tenth of a slice, of so many organizations that have nothing waiting may begin in a full slice. */
const shortOnes = 10;

/**
 * The scheduler of a node on simulated turns of the event loop, which take simulated time. Judges that nobody waits while the
 * thread is free, that a slice ends, that no organization that waits is behind another by more than a slice and its largest piece,
 * that the work of a part keeps its order, and that nobody waits for a closed owner.
 */
export function createThreadModel({ createThread, random, climate, onError }: Options): WatchedThread {
  const { sliceUs, turnMs } = climate;
  const lines = new Map<string, Line>();
  const largest = new Map<string, number>();
  let begunUs = 0; // in this turn
  const newcomers = new Set<string>(); // that began in a full slice
  let waits = 0;
  let left = 0; // how many waited at the end of it
  let isUnsure = false; // an owner closed, and its work may have begun before
  const broken = (text: string) => onError(new Error(`the thread: ${text}`));

  const thread = createThread({
    sliceUs,
    defer(callback) {
      const turn = () => {
        if (left > 0 && begunUs < sliceUs && !isUnsure) broken(`${left} wait while it rests`);
        begunUs = 0;
        newcomers.clear();
        isUnsure = false;
        callback();
        left = thread.waiting;
      };
      if (turnMs === 0) setImmediate(turn);
      else setTimeout(turn, random.integer(0, turnMs));
    },
  });

  function begin(org: string, cost: number, hasWaited: boolean): void {
    const isFull = begunUs >= sliceUs;
    begunUs += cost;
    if (isFull) {
      const isShort = !hasWaited && cost <= sliceUs / shortOnes && !newcomers.has(org) && newcomers.size < shortOnes;
      if (!isShort) broken(`${org} begins after the slice is used up`);
      newcomers.add(org);
    }
    for (const [other, { behind }] of lines) {
      if (other === org) {
        for (const [name, us] of behind) behind.set(name, Math.max(0, us - cost));
        continue;
      }
      const us = (behind.get(org) ?? 0) + cost;
      behind.set(org, us);
      const mostUs = Math.max(sliceUs, largest.get(org) ?? 0) + (largest.get(other) ?? 0) + creditUs;
      if (us > mostUs) broken(`${other} waits, and is ${us} µs behind ${org}`);
    }
  }

  function settle(org: string, waiter: Waiter, isGone: boolean): void {
    const line = lines.get(org);
    waiter.isSettled = true;
    const first = line?.waiters.find(({ part }) => part === waiter.part);
    const at = line?.waiters.indexOf(waiter) ?? -1;
    line?.waiters.splice(at, 1);
    if (line?.waiters.length === 0) lines.delete(org);
    isUnsure ||= isGone;
    if (isGone) return;
    if (first !== waiter) broken(`work of ${org} overtakes what asked before`);
    begin(org, waiter.cost, true);
  }

  async function expectGone(org: string, waiter: Waiter): Promise<void> {
    for (let step = 0; step < 3; step++) await undefined;
    if (!waiter.isSettled) broken(`${org} waits for a closed owner`);
  }

  function enter(org: string, waiter: Waiter): void {
    const line: Line = lines.get(org) ?? { waiters: [], behind: new Map() };
    lines.set(org, line);
    line.waiters.push(waiter);
  }

  async function watch(org: string, waiter: Waiter, turn: Promise<void>, owner: Owner | undefined): Promise<void> {
    const letGo = owner?.hold(() => void expectGone(org, waiter));
    await turn;
    letGo?.();
    settle(org, waiter, owner?.isClosed === true);
  }

  return {
    turn(given, cost, options = {}) {
      const { part = "" } = options;
      const owner = typeof options.owner === "function" ? options.owner() : options.owner;
      const org = typeof given === "string" ? given : given();
      largest.set(org, Math.max(largest.get(org) ?? 0, cost));
      const wasFree = lines.size === 0 && begunUs < sliceUs && !isUnsure;
      const isGone = owner?.isClosed === true;
      const turn = thread.turn(given, cost, { ...options, owner });
      if (turn === undefined) {
        if (!isGone) begin(org, cost, false);
        return undefined;
      }
      if (isGone) broken(`${org} waits for an owner that has closed`);
      if (wasFree) broken(`${org} waits, though it is free`);
      const waiter = { part, cost, isSettled: false };
      waits++;
      enter(org, waiter);
      return watch(org, waiter, turn, owner);
    },
    get waits() {
      return waits;
    },
    get waiting() {
      return thread.waiting;
    },
    get unserved() {
      return [...lines.values()].reduce((sum, { waiters }) => sum + waiters.length, 0);
    },
  };
}
