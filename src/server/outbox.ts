import type { Logger } from "pino";
import { type Config, httpLimitsOf } from "../config.ts";
import type { ProblemForm } from "../contract/errors/problem.ts";
import type { OutageEvents } from "../lib/observing/outages.ts";
import { createSparing } from "../lib/observing/sparing.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import { createOutbox, type OutboxFigures } from "../services/outbox/outbox.ts";
import { createOutboxSends } from "../services/outbox/outbox-sends.ts";
import { openOutbox } from "../store/outbox/outbox.ts";
import setup from "../store/outbox/setup.sql" with { type: "text" };
import type { SendLog } from "../store/ports.ts";

const clocksDifferMs = 24 * 3600 * 1000; // at most, between a node that gives a send its time and the databases

const refusedAdvice =
  "refused a row of the outbox; it is kept in herald.outbox_refused with the reason: correct what it names, and send it again";

/** What to run once in the database of `HERALD_OUTBOX_URL`. */
export const outboxSql: string = setup;

/** The outbox of a node. */
export type NodeOutbox = {
  figures: OutboxFigures;
  /** How long the oldest row has been waiting, in milliseconds. */
  oldestMs(): Promise<number>;
  /**
   * From when ids of sends must be known, at this time of the database of Herald: a row that is still there may have been sent,
   * and then it will be sent again. While the outbox cannot be read, the last answer holds, and everything before the first.
   */
  idsNeededFrom(now: number): Promise<number>;
  start(): void;
  /** Ends after the rows that are being sent, and closes the connections. */
  stop(): Promise<void>;
};

type Dependencies = {
  config: Config;
  store: { sends: SendLog };
  use: OrganizationUse;
  clock: Clock;
  steadyClock: Clock;
  outages: OutageEvents;
  problemForm: ProblemForm;
  log: Logger;
  onError(error: unknown): void;
};

/** Creates what sends from the outbox; `undefined` if none is configured. */
export function createNodeOutbox(dependencies: Dependencies): NodeOutbox | undefined {
  const { config, store, use, clock, steadyClock, outages, problemForm, log, onError } = dependencies;
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
    oldestMs: table.oldestMs,
    async idsNeededFrom(now) {
      try {
        neededFrom = now - (await table.oldestMs()) - clocksDifferMs;
      } catch {
        // told by those who read it to send
      }
      return neededFrom;
    },
    start: () => outbox.start(outages),
    async stop() {
      await outbox.stop();
      await table.close();
    },
  };
}
