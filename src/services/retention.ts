import type { Clock } from "../lib/time/clock.ts";
import type { RetentionWrites } from "../store/retention/ports.ts";

/** Removes what is kept no longer, a little at a time. After that it counts the bytes of what is left, where nobody has. */
export type Retention = {
  /**
   * Goes on until nothing is left, another node is at it, or it is stopped. Gives how many rows it removed or changed, 0 at
   * once when it is under way already. Rejects as the store does; what was done by then stays done.
   */
  run(): Promise<number>;
  /** Ends the run after the step that is under way, and resolves then. */
  stop(): Promise<void>;
};

/** How long things are kept, how long a token may live, and how far `since` reaches back, in days; `Infinity` for ever. */
export type Keep = { messages: number; ids: number; audit: number; tokens: number; recovery: number };

type Options = {
  retention: RetentionWrites;
  keep: Keep;
  /** Which node this is. */
  holder: string;
  /** This node's clock. The database's decides what is old; while the two differ by more than a minute, nothing is removed. */
  clock: Clock;
  /** Called when they begin to differ, with how far this node's is ahead in milliseconds. */
  onSkew(skewMs: number): void;
  /** A clock that only goes forward. */
  elapsed: Clock;
  pause?(ms: number): Promise<void>;
  rowsPerStep?: number;
};

const dayMs = 24 * 3600 * 1000;
const leaseMs = 30_000;
const skewMayBeMs = 60_000; // far more than NTP leaves, far less than the day's margin: one of the two clocks is wrong
const defaultRowsPerStep = 250;
const rowsPerCount = 1_000;
const shortestPauseMs = 20;
const pausePerWork = 3; // so that three quarters of the time belong to sends, however slow the disk is
const marginDays = 1; // for clocks that differ, and for a recovery that takes its time
const recoveryDaysWhenLifted = 7;

/** Retention over the store. Between two steps the log is free for sends three times as long as the step took. */
export function createRetention(options: Options): Retention {
  const { retention, keep, holder, clock, onSkew, elapsed, pause = Bun.sleep } = options;
  const { rowsPerStep = defaultRowsPerStep } = options;
  const recoveryDays = Number.isFinite(keep.recovery) ? keep.recovery : recoveryDaysWhenLifted;
  let isStopped = false;
  let isSkewed = false;
  let running: Promise<number> | undefined;

  /** The database's time; `undefined` when nobody knows what time it is. */
  async function readTime(): Promise<number | undefined> {
    const now = await retention.now();
    const skewMs = clock.now() - now;
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs) > skewMayBeMs;
    if (isSkewed && !wasSkewed) onSkew(skewMs);
    return isSkewed ? undefined : now;
  }

  async function step(): Promise<number> {
    const now = await readTime();
    if (now === undefined) return 0;
    const before = (days: number) => (Number.isFinite(days) ? now - days * dayMs : undefined);
    const changed = await retention.step({
      holder,
      leaseMs,
      now,
      limit: rowsPerStep,
      messagesBefore: before(keep.messages),
      idsBefore: before(keep.ids),
      auditBefore: before(keep.audit),
      revocationsBefore: before(keep.tokens + marginDays),
      // What was said before may still have to be played, or be where a client wants to go on from.
      deletedBefore: now - (recoveryDays + marginDays) * dayMs,
    });
    return changed ?? 0;
  }

  async function count(): Promise<number> {
    const now = await readTime();
    return now === undefined ? 0 : ((await retention.count({ holder, leaseMs, now, limit: rowsPerCount })) ?? 0);
  }

  /** Goes on until there is nothing to do; gives how many rows were touched. */
  async function repeat(work: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!isStopped) {
      const startedAt = elapsed.now();
      const touched = await work();
      if (touched === 0) break;
      total += touched;
      await pause(Math.max(shortestPauseMs, (elapsed.now() - startedAt) * pausePerWork));
    }
    return total;
  }

  async function removeAll(): Promise<number> {
    const removed = await repeat(step);
    await repeat(count); // what is gone by now need not be counted
    return removed;
  }

  return {
    async run() {
      if (running !== undefined) return 0;
      running = removeAll();
      try {
        return await running;
      } finally {
        running = undefined;
      }
    },
    async stop() {
      isStopped = true;
      await running?.catch(() => 0); // told by the run
    },
  };
}
