import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

const mostKept = 10_000; // about 2 MB

/**
 * Creates an empty memory of the last 10,000 messages recalled: copies of them that were read from the store before must not be
 * written any more.
 */
export function createRecalled() {
  const notedAt = new Map<string, number>(); // oldest first
  return {
    note(messages: Iterable<string>): void {
      for (const message of messages) {
        notedAt.set(message, performance.now());
        forgetOldest(notedAt, mostKept);
      }
    },
    /** Whether a message was recalled, as far as remembered. */
    has: (message: string | undefined): boolean => message !== undefined && notedAt.has(message),
    /** Forgets what was noted before a time, in milliseconds of `performance.now()`. */
    forgetBefore(time: number): void {
      for (const [message, at] of notedAt) {
        if (at >= time) return;
        notedAt.delete(message);
      }
    },
    clear: (): void => notedAt.clear(),
  };
}
