import type { HeraldError } from "../../contract/errors/errors.ts";
import type { OutageEvents } from "../../lib/observing/outages.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import { createPoller } from "../../lib/time/poller.ts";
import type { OutboxTable } from "../../store/outbox/ports.ts";
import type { OutboxSends } from "./outbox-sends.ts";

/** How many rows this node has sent, and refused. */
export type OutboxFigures = { sent: number; refused: number };

type Dependencies = {
  table: Pick<OutboxTable, "organizations" | "take" | "listen">;
  sendRows: OutboxSends;
  /** How often a node looks for what it was not told of, in milliseconds. */
  lookEveryMs?: number;
  elapsed: SteadyClock;
};

const placesOfNode = 4;
const longestPauseMs = 5_000;

/**
 * Creates the sender of what transactions of the caller's database have committed, on this node or another. Organizations take
 * turns, some of them at a time, each by a page of its rows and on one node: a node that finds another one at it goes on, as that
 * one looks again before it leaves.
 */
export function createOutbox({ table, sendRows, lookEveryMs = 500, elapsed }: Dependencies) {
  const figures: OutboxFigures = { sent: 0, refused: 0 };
  const busy = new Map<string, Promise<void>>();
  const notBefore = new Map<string, number>(); // for organizations whose rows could not be sent
  let hasNews = false;
  let wake: (() => void) | undefined;
  let failure: { error: unknown } | undefined;
  let isStopped = false;
  const poller = createPoller({ poll: lookNow, everyMs: lookEveryMs, elapsed });

  /** Something may be waiting that was not there at the last look. */
  function noteNews(): void {
    hasNews = true;
    wake?.();
  }

  async function serve(org: string): Promise<void> {
    const count = await table.take(org, async (rows) => {
      const outcome = await sendRows(org, rows);
      figures.sent += outcome.sent;
      figures.refused += outcome.refused;
      if (outcome.failure !== undefined) notBefore.set(org, elapsed.now() + pauseAfter(outcome.failure));
      return outcome.ended;
    });
    if (count !== undefined && count > 0) noteNews();
  }

  function begin(org: string): void {
    const work = serve(org)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => busy.delete(org));
    busy.set(org, work);
  }

  const mayServe = (org: string) => !busy.has(org) && !notBefore.has(org);

  /** Gives each organization that has rows a turn. */
  async function goRound(): Promise<void> {
    for (let after: string | undefined, isOver = false; !isOver; ) {
      const orgs: string[] = await table.organizations(after, rowsOfStatement);
      for (const org of orgs.filter(mayServe)) {
        while (busy.size >= placesOfNode) await Promise.race(busy.values());
        if (isStopped) return;
        begin(org);
      }
      isOver = orgs.length < rowsOfStatement;
      after = orgs.at(-1);
    }
  }

  /** Goes round until nothing is left that can be sent now. */
  async function lookNow(): Promise<undefined> {
    do {
      hasNews = false;
      for (const [org, at] of notBefore) if (at <= elapsed.now()) notBefore.delete(org);
      await goRound();
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (busy.size > 0 && !hasNews) await Promise.race([...busy.values(), news]);
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        if (hasNews) poller.wakeIn(0);
        throw error;
      }
    } while (!isStopped && (hasNews || busy.size > 0));
  }

  return {
    figures,
    /** Begins to send. Failures of the database are reported to `outages`. */
    start(outages: OutageEvents): void {
      table.listen(() => {
        noteNews();
        poller.wakeIn(0);
      });
      poller.start(outages);
    },
    /** Ends after the rows that are being sent; resolves then. */
    async stop(): Promise<void> {
      isStopped = true;
      wake?.();
      await poller.stop();
      await Promise.all(busy.values());
    },
  };
}

/** How long rows wait that cannot be sent now, in milliseconds: as long as the refusal asks for, up to some seconds. */
function pauseAfter({ headers }: HeraldError): number {
  const seconds = Number(headers["Retry-After"] ?? 1);
  return Math.min(longestPauseMs, Number.isFinite(seconds) ? seconds * 1000 : 1_000);
}
