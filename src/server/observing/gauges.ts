import { keepOf } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { readDiskSpace } from "../../lib/disk-space.ts";
import { followValue, type Reading } from "../../lib/observing/gauge.ts";
import { readOverdue } from "../../services/retention.ts";
import type { Overdue } from "../../store/retention/ports.ts";
import type { Context } from "../context.ts";
import type { NodeOutbox } from "../outbox.ts";
import type { Stored } from "../store.ts";

/** Figures that take a moment to read, so they are read in the background. What cannot be read is `undefined`. */
export type Gauges = ReturnType<ReturnType<typeof startGauges>>;

type Dependencies = Stored & { outbox: NodeOutbox | undefined };

/** Starts reading the figures, every 5 s or less often. Returns the function that shows the latest ones. */
export function startGauges(context: Context, { database, store, outbox }: Dependencies) {
  const { config, clock, steadyClock, onError, onStop } = context;
  const options = {
    clock: steadyClock,
    onError(error: unknown) {
      if (!(error instanceof HeraldError)) onError(error); // an outage is logged elsewhere
    },
  };
  const sizes = followValue(database.sizes, options);
  const disk = followValue(() => readDiskSpace(config.HERALD_DATA_DIR), options);
  const keep = keepOf(config);
  const jobs = followValue(() => readOverdue(store.retention, keep), options);
  const scheduled = followValue(store.schedule.backlog, options);
  const webhooksMs = followValue(async () => {
    const { now, eventAt = now } = await store.webhookDeliveries.agenda();
    return Math.max(0, now - eventAt);
  }, options);
  // Its outages are logged by the loop that sends from it.
  const outboxMs = outbox && followValue(outbox.oldestMs, { clock: steadyClock, onError: () => undefined });

  onStop(() => {
    for (const each of [sizes, disk, jobs, scheduled, webhooksMs, outboxMs]) each?.stop();
  });
  return () => {
    const now = clock.now();
    return {
      database: sizes.current()?.value,
      disk: disk.current()?.value,
      /** How long the oldest job of each kind has been waiting, in milliseconds; 0 if none is. */
      jobs: agedBy(jobs.current()),
      scheduled: scheduled.current()?.value,
      /** How long the event that was due first for a webhook has been waiting, in milliseconds; 0 if none is due. */
      webhooksMs: webhooksMs.current()?.value,
      /** How long the oldest row of the outbox has been waiting, in milliseconds. */
      outboxMs: outboxMs?.current()?.value,
      /** How long the oldest send has been waiting for its commit, in milliseconds; 0 if none is. */
      oldestSendMs: Math.max(0, now - (store.sends.oldestPending() ?? now)),
    };
  };
}

/** What was waiting when it was read has been waiting for longer since. */
function agedBy(read: Reading<Overdue> | undefined): Overdue | undefined {
  if (read === undefined) return undefined;
  const { deleted, messages, ids, audit } = read.value;
  const aged = (waitMs: number) => (waitMs === 0 ? 0 : waitMs + read.ageMs);
  return { deleted: aged(deleted), messages: aged(messages), ids: aged(ids), audit: aged(audit) };
}
