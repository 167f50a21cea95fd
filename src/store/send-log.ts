import { unavailable } from "../contract/errors.ts";
import type { CommitMark, LogEvent } from "../contract/log-event.ts";
import { createBatcher } from "../lib/batcher.ts";
import { createCoalescer } from "./coalesce.ts";
import { toLogEvent } from "./log-writer.ts";
import type { AppendResult, BatchLog, NewSend, SendLog } from "./ports.ts";

const maxBatch = 500;
const maxWaiting = 20_000;

type Options = {
  log: BatchLog;
  /** Called after commits with their events, in offset order. */
  announce(events: LogEvent[]): void;
  /** Called after each commit with how many sends it took and how long; what it gives goes with the events. */
  onCommit?(sends: number, tookMs: number): CommitMark | undefined;
  batchSize?: number;
};

/**
 * Group commit: the sends of one turn of the event loop, and those that arrive while a commit is under way, share one.
 * While sends wait for the next commit, the events of the last one wait for theirs, at most 2 ms.
 */
export function createSendLog({ log, announce, onCommit, batchSize = maxBatch }: Options): SendLog {
  const batcher = createBatcher<NewSend, AppendResult>({
    async flush(sends) {
      const startedAt = performance.now();
      const results = await log.appendAll(sends);
      const committed = onCommit?.(sends.length, performance.now() - startedAt);
      const events: LogEvent[] = [];
      const settled = sends.map((send, index): PromiseSettledResult<AppendResult> => {
        const result = results[index];
        if (result === undefined) return { status: "rejected", reason: new Error("an append without a result") };
        if (result.outcome === "failed") return { status: "rejected", reason: result.error };
        if (result.outcome !== "stored") return { status: "fulfilled", value: result };
        events.push({ ...toLogEvent({ ...send, offset: result.offset }), committed });
        const { id, mid, createdAt } = send;
        return { status: "fulfilled", value: { outcome: "stored", id, mid, createdAt } };
      });
      coalesce(events);
      return settled;
    },
    maxBatch: batchSize,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many sends wait for the database; retry with the same id" }),
  });
  const coalesce = createCoalescer({ isBusy: batcher.hasWaiting, announce });
  return { append: (send) => batcher.add(send) };
}
