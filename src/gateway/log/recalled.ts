import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

const mostKept = 10_000; // about 2 MB

/** The messages recalled lately: copies of them that were read from the store before must not be written any more. */
export type Recalled = {
  note(messages: Iterable<string>): void;
  /** Whether a message was recalled, as far as remembered. */
  has(message: string | undefined): boolean;
  /** Forgets what was noted before a time, in milliseconds of `performance.now()`. */
  forgetBefore(time: number): void;
  clear(): void;
};

/** Creates an empty memory of the last 10,000 ids. */
export function createRecalled(): Recalled {
  const notedAt = new Map<string, number>(); // oldest first
  return {
    note(messages) {
      for (const message of messages) {
        notedAt.set(message, performance.now());
        forgetOldest(notedAt, mostKept);
      }
    },
    has: (message) => message !== undefined && notedAt.has(message),
    forgetBefore(time) {
      for (const [message, at] of notedAt) {
        if (at >= time) return;
        notedAt.delete(message);
      }
    },
    clear: () => notedAt.clear(),
  };
}
