import { createHistogram } from "../../lib/observing/histogram.ts";

/** What a node counts of files since its start. */
export type FileFigures = ReturnType<typeof createFileFigures>;

/** The operations on the store of the bytes. */
export type BytesOperation = keyof FileFigures["failures"];

const durationBuckets = { lowest: 1, doublings: 20 }; // up to 17 minutes

/** Creates counters at 0. */
export function createFileFigures() {
  return {
    /** Uploads, by how they ended. */
    uploads: { stored: 0, refused: 0, failed: 0 },
    /** The sum of the bytes of the uploads that were stored. */
    storedBytes: 0,
    /** How long these took, in milliseconds, from their first byte to the end of their commit. */
    durations: createHistogram(durationBuckets),
    /** What the store of the bytes could not do. */
    failures: { write: 0, read: 0, remove: 0 },
  };
}
