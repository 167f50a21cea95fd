import type { LogEvent } from "../contract/log-event.ts";
import { createRing } from "./ring.ts";

const bytesPerTurn = 256 * 1024;
const maxReadyBytes = 4 * 1024 * 1024;
const maxHeld = 1024;
const maxHeldBytes = 4 * 1024 * 1024;
const repairDelayMs = 5;
const retryDelayMs = 250;
const pageSize = 200;
// While somebody is slow an organization is played at 16 MB/s at most, so that who reads at that pace is not cut.
const slowTurnMs = 16;
const slowTurnBytes = bytesPerTurn / 4;

/** Plays the events of one organization in offset order, without holes, each once. */
export type Sequencer = {
  /** The offset of the event that was played last. */
  readonly position: number;
  /** A hint from the bus, in any order, any number of times. */
  offer(event: LogEvent): void;
  /** The store says how far the log goes; what is missing is read from it. */
  noticeHead(head: number): void;
  /** Resolves once everything up to `offset` was played; rejects when the sequencer stops. */
  reached(offset: number): Promise<void>;
  /** What was played after `offset`, or `undefined` when that was too long ago to be still at hand. */
  playedAfter(offset: number): LogEvent[] | undefined;
  stop(): void;
};

type Options = {
  /** Everything up to this offset is over: the first event that is played follows it. */
  position: number;
  /** Reads the log: at most `limit` events after `offset`, in order. */
  read(offset: number, limit: number): Promise<LogEvent[]>;
  /** Plays one event, at once. True when some listener is slow to take it. */
  play(event: LogEvent): boolean;
  /** Called when a read brought what no hint had brought. */
  onRepair(): void;
  onError(error: unknown): void;
};

type Waiter = { offset: number; resolve(): void; reject(reason: unknown): void };

/**
 * The log is the truth and hints only make it fast. An event whose offset is next is played; one beyond is held for a
 * few milliseconds, then the hole is read from the store. Offsets that the store no longer has were purged: since offsets
 * are given in the order of commits, nothing will ever appear there, so they are passed over.
 */
export function createSequencer({ position: start, read, play, onRepair, onError }: Options): Sequencer {
  const ring = createRing(start);
  const held = new Map<number, LogEvent>();
  const waiters = new Set<Waiter>();
  let position = start;
  let heldBytes = 0;
  let ready: LogEvent[] = [];
  let readyBytes = 0;
  let last = start; // the offset of the last event that is played or ready
  let target = start; // the highest offset known to exist
  let turnBytes = 0; // played in this turn of the event loop
  let isTurnEnding = false;
  let isTurnSlow = false;
  let isReading = false;
  let isStopped = false;
  let repairTimer: ReturnType<typeof setTimeout> | undefined;

  /** What does not fit is read from the store when its turn comes. */
  function hold(event: LogEvent): void {
    if (held.has(event.offset) || held.size >= maxHeld || heldBytes >= maxHeldBytes) return;
    held.set(event.offset, event);
    heldBytes += bytesOf(event);
  }

  function takeHeld(offset: number): LogEvent | undefined {
    const event = held.get(offset);
    if (event === undefined) return undefined;
    held.delete(offset);
    heldBytes -= bytesOf(event);
    return event;
  }

  /** Makes the event ready, and what was held for when it came. */
  function append(event: LogEvent): void {
    let next: LogEvent | undefined = event;
    while (next !== undefined) {
      ready.push(next);
      readyBytes += bytesOf(next);
      last = next.offset;
      next = readyBytes < maxReadyBytes ? takeHeld(last + 1) : undefined;
    }
  }

  function pump(): void {
    if (isStopped) return;
    let count = 0;
    for (let event = ready[0]; event !== undefined; event = ready[count]) {
      const bytes = bytesOf(event);
      if (turnBytes > 0 && turnBytes + bytes > bytesPerTurn) break;
      isTurnSlow = play(event) || isTurnSlow;
      ring.push(event);
      position = event.offset;
      turnBytes += bytes;
      readyBytes -= bytes;
      count++;
    }
    ready = ready.slice(count);
    for (const waiter of waiters) {
      if (waiter.offset > position) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
    if (turnBytes > 0) endTurn();
    if (ready.length === 0 && target > last) repairAfter(repairDelayMs);
  }

  /** A burst is cut into turns of the event loop, so that a healthy reader takes what was sent before more is added. */
  function endTurn(): void {
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(() => {
      if (isTurnSlow && turnBytes >= slowTurnBytes) setTimeout(beginTurn, slowTurnMs);
      else beginTurn();
    });
  }

  function beginTurn(): void {
    isTurnEnding = false;
    isTurnSlow = false;
    turnBytes = 0;
    pump();
  }

  function repairAfter(delayMs: number): void {
    if (repairTimer !== undefined || isReading || isStopped) return;
    repairTimer = setTimeout(() => {
      repairTimer = undefined;
      repair().catch(onError);
    }, delayMs);
  }

  async function repair(): Promise<void> {
    if (isStopped || isReading || target <= last || readyBytes >= maxReadyBytes) return;
    isReading = true;
    let isRetry = false;
    try {
      const events = await read(last, pageSize);
      const heardUpTo = last;
      for (const event of events) {
        if (event.offset > last) append(event);
      }
      if (last > heardUpTo) onRepair();
      isRetry = events.length === 0;
    } catch (error) {
      isRetry = true;
      onError(error);
    } finally {
      isReading = false;
    }
    for (const offset of held.keys()) if (offset <= last) takeHeld(offset);
    if (isRetry) repairAfter(retryDelayMs);
    else pump();
  }

  return {
    get position() {
      return position;
    },
    offer(event) {
      if (isStopped || event.offset <= last) return;
      target = Math.max(target, event.offset);
      if (event.offset === last + 1 && readyBytes < maxReadyBytes) {
        append(event);
        pump();
        return;
      }
      hold(event);
      if (ready.length === 0) repairAfter(repairDelayMs);
    },
    noticeHead(head) {
      target = Math.max(target, head);
      if (target > last && ready.length === 0) repairAfter(repairDelayMs);
    },
    reached(offset) {
      if (isStopped) return Promise.reject(new Error("the sequencer was stopped"));
      if (offset <= position) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiters.add({ offset, resolve, reject });
        target = Math.max(target, offset);
        if (target > last && ready.length === 0) repairAfter(0);
      });
    },
    playedAfter: (offset) => ring.after(offset),
    stop() {
      isStopped = true;
      clearTimeout(repairTimer);
      for (const waiter of waiters) waiter.reject(new Error("the sequencer was stopped"));
      waiters.clear();
    },
  };
}

/** What an event is on the wire, where a character may have up to four bytes. */
function bytesOf({ payload }: LogEvent): number {
  return Buffer.byteLength(payload);
}
