import { httpLimitsOf } from "../config.ts";
import { createSparing } from "../lib/observing/sparing.ts";
import { createOutbox } from "../services/outbox/outbox.ts";
import { createOutboxSends } from "../services/outbox/outbox-sends.ts";
import { openOutbox } from "../store/outbox/outbox.ts";
import setup from "../store/outbox/setup.sql" with { type: "text" };
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import type { Store } from "./store.ts";

const stopMayTakeMs = 5_000;
const clocksDifferMs = 24 * 3600 * 1000; // at most, between a node that gives a send its time and the databases

const refusedAdvice =
  "refused a row of the outbox; it is kept in herald.outbox_refused with the reason: correct what it names, and send it again";

/** The SQL to run once in the database of `HERALD_OUTBOX_URL`. */
export const outboxSql: string = setup;

/** The outbox of a node. */
export type NodeOutbox = NonNullable<ReturnType<typeof createNodeOutbox>>;

/** Creates what sends from the outbox; `undefined` if none is configured. */
export function createNodeOutbox(context: Context, store: Store, { use }: Limits) {
  const { config, clock, steadyClock, dependencies, problemForm, log, onError, onStop } = context;
  if (config.HERALD_OUTBOX_URL === undefined) return undefined;
  const limits = httpLimitsOf(config);
  const table = openOutbox(config.HERALD_OUTBOX_URL, limits.requestBytes);
  const tellRefused = createSparing({
    tell: (facts, before) => log.warn({ ...facts, before }, refusedAdvice),
    clock: steadyClock,
  });
  const sendRows = createOutboxSends({
    ...store,
    use,
    limits,
    clock,
    elapsed: steadyClock,
    onError,
    problemForm,
    onRefused: (org, row, { code, message }) => tellRefused(code, { code, org, row, reason: message }),
  });
  let neededFrom = 0;
  const outbox = createOutbox({ table, sendRows, elapsed: steadyClock });
  return {
    figures: outbox.figures,
    /** How long the oldest row has been waiting, in milliseconds. */
    oldestMs: table.oldestMs,
    /**
     * The time since when ids of sends must be known, as of `now` on the clock of Herald's database: a row that is still in the outbox
     * may have been sent, and is then sent again. While the outbox cannot be read, the last answer, or 0 before the first one.
     */
    async idsNeededFrom(now: number): Promise<number> {
      try {
        neededFrom = now - (await table.oldestMs()) - clocksDifferMs;
      } catch {
        // reported by the loop that sends from the outbox
      }
      return neededFrom;
    },
    /** Begins to send. A stop ends after the rows that are being sent, and closes the connections. */
    start(): void {
      outbox.start(dependencies.outbox);
      onStop(() => outbox.stop().then(table.close), stopMayTakeMs);
    },
  };
}
