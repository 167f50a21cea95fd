import type { BusState } from "../../bus/bus.ts";
import type { Health } from "../../http/routes/open.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { createRecent, type Histogram } from "../../lib/observing/histogram.ts";
import { type Clock, systemClock } from "../../lib/time/clock.ts";

const storeMayTakeMs = 2_000;
const storeMayBeOldMs = 1_000;
const lookEveryMs = 5_000;
const looks = 6;
const lateMs = 1_000;
const sendMayWaitMs = 5_000;

type Dependencies = {
  isStopping(): boolean;
  /** `ok`, or why the database does not answer. */
  checkStore(): Promise<string>;
  /** Why writes fail; `undefined` if they do not. */
  storeProblem(): string | undefined;
  /** When the send that has been waiting longest for its commit was created, by the system's clock. */
  oldestSend(): number | undefined;
  busState(): BusState;
  eventLoopDelays: Histogram;
  /** A clock that never goes back. */
  clock: Clock;
};

/**
 * Creates the health checks for load balancers and orchestrators: what is wrong, and whether that prevents the node
 * from working.
 */
export function createHealth({ isStopping, eventLoopDelays, busState, clock, ...store }: Dependencies) {
  const delays = createRecent([eventLoopDelays], looks);
  const timer = setInterval(() => delays.turn(), lookEveryMs);
  timer.unref();
  // Shares recent results, so that probes do not pile up on a database that hangs, and strangers cannot load one that
  // answers.
  const askStore = createRecentCopy(store.checkStore, { maxAgeMs: storeMayBeOldMs, clock });

  function checkProcess(): Health["checks"] {
    const isLate = (delays.quantile(1) ?? 0) > lateMs;
    return {
      node: isStopping() ? "stopping" : "ok",
      event_loop: isLate ? "late: something blocked the event loop for more than a second within the last 30 s" : "ok",
    };
  }

  async function checkStoreInTime(): Promise<string> {
    const tooLate = Bun.sleep(storeMayTakeMs).then(() => `did not respond within ${storeMayTakeMs / 1000} s`);
    return await Promise.race([askStore(), tooLate]);
  }

  /** Whether a write can succeed: reads tell nothing about that. */
  async function checkWrites(): Promise<string> {
    const problem = store.storeProblem();
    if (problem !== undefined) return problem;
    const read = await checkStoreInTime();
    if (read !== "ok") return read;
    const waitedMs = systemClock.now() - (store.oldestSend() ?? systemClock.now());
    return waitedMs > sendMayWaitMs ? `sends have been waiting for ${Math.round(waitedMs / 1_000)} s` : "ok";
  }

  function checkBus(): Health["checks"] {
    const state = busState();
    if (state === "none") return {};
    return {
      bus:
        state === "up"
          ? "ok"
          : "reconnecting: messages from other nodes arrive within 5 s, and presence is unavailable",
    };
  }

  return {
    /** Whether the process is alive; answering is proof enough. A database that is away is no reason for a restart. */
    async liveness(): Promise<Health> {
      return { isOk: true, checks: checkProcess() };
    },
    /** Whether it accepts requests. It does without the bus, with delays; it cannot without a database that stores. */
    async readiness(): Promise<Health> {
      const written = await checkWrites();
      const checks = { ...checkProcess(), store: written, ...checkBus() };
      return { isOk: !isStopping() && written === "ok", checks };
    },
    stop: () => clearInterval(timer),
  };
}
