import { pauseAfter, rowsOfStatement, rowsOfStep } from "../lib/queues/steps.ts";
import type { Clock, SteadyClock } from "../lib/time/clock.ts";
import type { Expiry, Overdue, RetentionReads, RetentionWrites } from "../store/retention/ports.ts";

/** How long data is kept, how long a token may live, and how far `since` reaches back, in days; `Infinity` for ever. */
export type Keep = { messages: number; ids: number; audit: number; tokens: number; recovery: number };

type Options = {
  retention: RetentionWrites & Pick<RetentionReads, "now">;
  keep: Keep;
  /**
   * From when sends must be known, however short `keep` is, at this time of the database's clock. Asked once in a run, as it
   * stays true. Never rejects.
   */
  neededFrom?: ((now: number) => Promise<number>) | undefined;
  /** The id of this node. */
  holder: string;
  /**
   * This node's clock. The database's clock decides what is old; nothing is removed while they differ by more than a
   * minute.
   */
  clock: Clock;
  /** Called when the clocks begin to differ, with how far this node's is ahead, in milliseconds. */
  onSkew(skewMs: number): void;
  elapsed: SteadyClock;
  pause?(ms: number): Promise<void>;
  rowsPerStep?: number;
};

const dayMs = 24 * 3600 * 1000;
const leaseMs = 30_000;
const skewMayBeMs = 60_000; // far more than NTP leaves and far less than the margin of a day: one clock is wrong
const marginDays = 1; // allows for clock differences and for slow recoveries
const recoveryDaysWhenLifted = 7;
const readDays = 1; // nodes have played them within seconds, and clients never ask for them again

/**
 * Creates what removes expired data in small steps, and then counts the bytes of stored events that no node has counted. After each
 * step, it pauses three times as long as the step took.
 */
export function createRetention(options: Options) {
  const { retention, keep, holder, clock, onSkew, elapsed, pause = Bun.sleep } = options;
  const { rowsPerStep = rowsOfStep, neededFrom } = options;
  const canForget = Number.isFinite(keep.messages) || Number.isFinite(keep.ids);
  let isStopped = false;
  let isSkewed = false;
  let running: Promise<number> | undefined;

  /** The database's time; `undefined` if the clocks disagree. */
  async function readTime(): Promise<number | undefined> {
    const now = await retention.now();
    const skewMs = clock.now() - now;
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs) > skewMayBeMs;
    if (isSkewed && !wasSkewed) onSkew(skewMs);
    return isSkewed ? undefined : now;
  }

  async function step(needed: number): Promise<number> {
    const now = await readTime();
    if (now === undefined) return 0;
    const expiry = withoutNeeded(expiryAt(now, keep), needed);
    return (await retention.step({ ...expiry, holder, leaseMs, now, limit: rowsPerStep })) ?? 0;
  }

  async function readNeeded(): Promise<number> {
    if (neededFrom === undefined || !canForget) return Number.POSITIVE_INFINITY;
    return await neededFrom(await retention.now());
  }

  async function count(): Promise<number> {
    const now = await readTime();
    return now === undefined ? 0 : ((await retention.count({ holder, leaseMs, now, limit: rowsOfStatement })) ?? 0);
  }

  /** Repeats the work until there is nothing left; returns the number of rows touched. */
  async function repeat(work: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!isStopped) {
      const startedAt = elapsed.now();
      const touched = await work();
      if (touched === 0) break;
      total += touched;
      await pause(pauseAfter(elapsed.now() - startedAt));
    }
    return total;
  }

  async function removeAll(): Promise<number> {
    let needed: number | undefined;
    const removed = await repeat(async () => {
      needed ??= await readNeeded();
      return step(needed);
    });
    await repeat(count); // after removing, so that less needs counting
    return removed;
  }

  return {
    /**
     * Runs until nothing is left, another node holds the lease, or it is stopped. Returns the number of rows removed or
     * changed, or 0 at once if a run is in progress. Rejects like the store; what was done before stays done.
     */
    async run(): Promise<number> {
      if (running !== undefined) return 0;
      running = removeAll();
      try {
        return await running;
      } finally {
        running = undefined;
      }
    },
    /** Ends the run after its current step; resolves then. */
    async stop(): Promise<void> {
      isStopped = true;
      await running?.catch(() => 0); // reported by the run
    },
  };
}

/** Reads how long ago the oldest data of each kind had to be removed, by the database's clock. */
export async function readOverdue(retention: RetentionReads, keep: Keep): Promise<Overdue> {
  const now = await retention.now();
  return await retention.overdue({ ...expiryAt(now, keep), now });
}

/** Keeps the sends that are needed, with their ids. */
function withoutNeeded({ messagesBefore, idsBefore, ...others }: Expiry, needed: number): Expiry {
  return {
    ...others,
    messagesBefore: messagesBefore && Math.min(messagesBefore, needed),
    idsBefore: idsBefore && Math.min(idsBefore, needed),
  };
}

function expiryAt(now: number, keep: Keep): Expiry {
  const before = (days: number) => (Number.isFinite(days) ? now - days * dayMs : undefined);
  const recoveryDays = Number.isFinite(keep.recovery) ? keep.recovery : recoveryDaysWhenLifted;
  return {
    messagesBefore: before(keep.messages),
    readsBefore: before(readDays),
    idsBefore: before(keep.ids),
    auditBefore: before(keep.audit),
    revocationsBefore: before(keep.tokens + marginDays),
    // Earlier messages may still have to be played, or be what a client resumes after.
    deletedBefore: now - (recoveryDays + marginDays) * dayMs,
  };
}
