import { createBatcher } from "../../lib/queues/batcher.ts";
import type { BatchLog, NewSend, SendOutcome } from "../ports.ts";

/** What goes into one commit at most, beside the first batch. */
type Most = { sends: number; characters: number };

/**
 * Lets batches that arrive during a commit share the next one, each of them whole: those of several processes, which would have a
 * flush each. Batches are stored in the order of their arrival.
 */
export function shareCommits(appendAll: BatchLog["appendAll"], most: Most): BatchLog["appendAll"] {
  /** The part of a commit that a batch fills. */
  const shareOf = (sends: NewSend[]) =>
    Math.max(sends.length / most.sends, sends.reduce((sum, { payload }) => sum + payload.length, 0) / most.characters);
  const { add } = createBatcher<NewSend[], SendOutcome[]>({
    async flush(batches) {
      const outcomes = await appendAll(batches.flat());
      return batches.map(({ length }) => outcomes.splice(0, length));
    },
    maxBatch: most.sends,
    weights: { of: shareOf, maxBatch: 1, maxWaiting: Number.POSITIVE_INFINITY },
    maxWaiting: Number.POSITIVE_INFINITY, // each process sends few ahead
    whenFull: () => new Error("no more batches may wait"),
  });
  return add;
}
