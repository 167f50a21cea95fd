import type { Health } from "../../http/routes/open.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { createRecent } from "../../lib/observing/histogram.ts";
import type { NodeBus } from "../bus.ts";
import type { Context } from "../context.ts";
import { checkStore } from "../database.ts";
import type { Drain } from "../drain.ts";
import type { Stored } from "../store.ts";

const storeMayTakeMs = 2_000;
const storeMayBeOldMs = 1_000;
const lookEveryMs = 5_000;
const looks = 6;
const lateMs = 1_000;
const sendMayWaitMs = 5_000;

/**
 * Starts the health checks for load balancers and orchestrators: what is wrong, and whether that prevents the node from
 * working.
 */
export function startHealth(
  context: Context,
  { database, store, writeWatch, observer, bus, drain }: Stored & Pick<NodeBus, "bus"> & { drain: Drain },
) {
  const { clock, steadyClock, onError, onStop } = context;
  const delays = createRecent([observer.figures.eventLoopDelays], looks);
  const timer = setInterval(() => delays.turn(), lookEveryMs);
  timer.unref();
  onStop(() => clearInterval(timer));
  // Shares recent results, so that probes do not pile up on a database that hangs, and strangers cannot load one that
  // answers.
  const askStore = createRecentCopy(() => checkStore(database.reader, onError), {
    maxAgeMs: storeMayBeOldMs,
    clock: steadyClock,
  });

  function checkProcess(): Health["checks"] {
    const isLate = (delays.quantile(1) ?? 0) > lateMs;
    return {
      node: drain.isDraining ? "stopping" : "ok",
      event_loop: isLate ? "late: something blocked the event loop for more than a second within the last 30 s" : "ok",
    };
  }

  async function checkStoreInTime(): Promise<string> {
    const tooLate = Bun.sleep(storeMayTakeMs).then(() => `did not respond within ${storeMayTakeMs / 1000} s`);
    return await Promise.race([askStore(), tooLate]);
  }

  /** Whether a write can succeed: reads tell nothing about that. */
  async function checkWrites(): Promise<string> {
    const problem = writeWatch.problem();
    if (problem !== undefined) return problem;
    const read = await checkStoreInTime();
    if (read !== "ok") return read;
    const waitedMs = clock.now() - (store.sends.oldestPending() ?? clock.now());
    return waitedMs > sendMayWaitMs ? `sends have been waiting for ${Math.round(waitedMs / 1_000)} s` : "ok";
  }

  function checkBus(): Health["checks"] {
    const state = bus.state();
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
      return { isOk: !drain.isDraining && written === "ok", checks };
    },
  };
}
