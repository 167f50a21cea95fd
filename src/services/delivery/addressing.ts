import { pauseAfter, rowsOfStatement } from "../../lib/queues/steps.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import { createPoller } from "../../lib/time/poller.ts";
import type { AddresseeReads, AddresseeWrites } from "../../store/delivery/ports.ts";

type Dependencies = {
  addressees: AddresseeReads & AddresseeWrites;
  elapsed: SteadyClock;
  pause?(ms: number): Promise<void>;
};

/** Writes down to whom system messages were addressed. */
export type Addressing = ReturnType<typeof createAddressing>;

const gathersMs = 500; // sends of this time share their rows' commits
const lookEveryMs = 10 * 60_000; // for what a node left behind that died
const retryMs = 5_000;
const mostOrganizations = 10_000;

/**
 * Creates the work that writes down to whom system messages were addressed, some time after their commits, so that what a user should
 * have is found by user. Each organization has a part in its turn; after each part, the work pauses three times as long as it took.
 */
export function createAddressing({ addressees, elapsed, pause = Bun.sleep }: Dependencies) {
  let waiting = new Set<string>();
  let lookAt = 0;
  let isStopped = false;
  const poller = createPoller({ poll, everyMs: lookEveryMs, elapsed });

  /** Does a part. Returns whether there may be more. */
  async function addSome(org: string): Promise<boolean> {
    const startedAt = elapsed.now();
    const isMore = await addressees.addSome(org);
    if (isMore) await pause(pauseAfter(elapsed.now() - startedAt));
    return isMore;
  }

  /** Notes all organizations in which something is behind. */
  async function lookAtAll(): Promise<void> {
    for (let after = ""; !isStopped; ) {
      const found = await addressees.behind(after, rowsOfStatement);
      for (const org of found) waiting.add(org);
      const last = found.at(-1);
      if (last === undefined || found.length < rowsOfStatement) break;
      after = last;
    }
    lookAt = elapsed.now() + lookEveryMs;
  }

  async function poll(): Promise<undefined> {
    if (elapsed.now() >= lookAt) await lookAtAll();
    while (waiting.size > 0 && !isStopped) {
      const some = waiting;
      waiting = new Set();
      try {
        for (const org of some) {
          if (isStopped) return;
          if (await addSome(org)) waiting.add(org);
          some.delete(org);
        }
      } finally {
        for (const org of some) waiting.add(org);
        if (some.size > 0) poller.wakeIn(retryMs); // after a failure
      }
    }
  }

  return {
    /** Does what is behind, and from now on what becomes so. Failures are reported to `outages`. */
    start: poller.start,
    /** A system message to users or to everyone was committed. */
    expect(org: string): void {
      if (waiting.size < mostOrganizations) waiting.add(org);
      else lookAt = 0;
      poller.wakeIn(gathersMs);
    },
    /** Ends the work after its current commit; resolves then. */
    async stop(): Promise<void> {
      isStopped = true;
      await poller.stop();
    },
  };
}
