import { keepOf } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { type DiskSpace, readDiskSpace } from "../../lib/disk-space.ts";
import { followValue, type Reading } from "../../lib/observing/gauge.ts";
import { readOverdue } from "../../services/retention.ts";
import type { Overdue } from "../../store/retention/ports.ts";
import type { ScheduleBacklog } from "../../store/schedule/ports.ts";
import type { DatabaseSizes } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { NodeOutbox } from "../outbox.ts";
import type { Stored } from "../store.ts";

/** Figures that take a moment to read, so they are read in the background. What cannot be read is `undefined`. */
export type Gauges = {
  database: DatabaseSizes | undefined;
  disk: DiskSpace | undefined;
  /** How long the oldest job of each kind has been waiting, in milliseconds; 0 if none is. */
  jobs: Overdue | undefined;
  scheduled: ScheduleBacklog | undefined;
  /** How long the event that was due first for a webhook has been waiting, in milliseconds; 0 if none is due. */
  webhooksMs: number | undefined;
  /** How long the oldest row of the outbox has been waiting, in milliseconds. */
  outboxMs: number | undefined;
  /** How long the oldest send has been waiting for its commit, in milliseconds; 0 if none is. */
  oldestSendMs: number;
};

type Dependencies = Stored & { outbox: NodeOutbox | undefined };

/** Starts reading the figures, every 5 s or less often. Returns the function that shows the latest ones. */
export function startGauges(context: Context, { database, store, outbox }: Dependencies): () => Gauges {
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
      jobs: agedBy(jobs.current()),
      scheduled: scheduled.current()?.value,
      webhooksMs: webhooksMs.current()?.value,
      outboxMs: outboxMs?.current()?.value,
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
