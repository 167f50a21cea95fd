import { type HeraldError, unavailable } from "../../contract/errors/errors.ts";
import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createQueue } from "../../lib/queues/queue.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Caller } from "../keys/permissions.ts";
import type { TransferSlots } from "../transfer/transfer-slots.ts";
import { createBatchLineReader } from "./batch-lines.ts";
import { type BatchCall, type BatchRun, type BatchWish, createBatchRun } from "./batch-run.ts";
import type { BatchTarget } from "./batch-sends.ts";

/** Sends messages and system messages line by line. */
export type Batches = ReturnType<typeof createBatches>;

type Dependencies = BatchTarget & {
  thread: ThreadScheduler;
  slots: TransferSlots;
  limits: PayloadLimits;
  onError(error: unknown, requestId: string): void;
  problemForm?: ProblemForm;
};

const batchesOfKey = 16; // of a key that is bound to no organization

/** Creates batches on the log. */
export function createBatches(dependencies: Dependencies) {
  const { slots, limits } = dependencies;
  const longLines = createQueue(stopped);
  const reader = createBatchLineReader({ limits, longLines });
  const running = new Set<BatchRun>();
  let isStopping = false;

  function takePlace({ rights: { org }, keyId }: Caller): () => void {
    if (org !== null) return slots.take(org);
    return slots.take(joinIds("key", keyId), { whose: "this key", quota: batchesOfKey });
  }

  return {
    /**
     * Sends lines as they come and as the answers are read, a text of whole lines at a time. Throws `rate_limited` if too
     * many batches are running.
     */
    open(wish: BatchWish, call: BatchCall): AsyncGenerator<string, void> {
      const release = takePlace(wish.caller);
      const run: BatchRun = createBatchRun({
        ...dependencies,
        reader,
        wish,
        call,
        onEnd() {
          running.delete(run);
          release();
        },
      });
      running.add(run);
      if (isStopping) run.end(stopped());
      return run.answers;
    },
    /** Ends all batches after what they are storing, and says so in their answers. */
    stop(): void {
      isStopping = true;
      for (const run of running) run.end(stopped());
    },
  };
}

function stopped(): HeraldError {
  return unavailable({ detail: "this node is shutting down; send all lines again with the same ids" });
}
