import { steadyClock } from "../../lib/time/clock.ts";

const sendingMs = 1_000;

/** Tells whether anybody sends: whether there was a batch within the last second. */
export function createSending() {
  let lastBatchAt = Number.NEGATIVE_INFINITY;
  return {
    /** Notes that there is a batch. */
    note(): void {
      lastBatchAt = steadyClock.now();
    },
    isSending: (): boolean => steadyClock.now() - lastBatchAt < sendingMs,
  };
}
