import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

const mostKept = 10_000; // about 2 MB

/**
 * Creates an empty memory of the last 10,000 texts recalled: copies of them that were read from the store before must not be
 * written any more.
 */
export function createRecalled() {
  const notedAt = new Map<string, number>(); // oldest first
  return {
    note(texts: Iterable<string>): void {
      for (const text of texts) {
        notedAt.set(text, performance.now());
        forgetOldest(notedAt, mostKept);
      }
    },
    /** Whether a text was recalled, as far as remembered. */
    has: (text: string | undefined): boolean => text !== undefined && notedAt.has(text),
    /** Forgets what was noted before a time, in milliseconds of `performance.now()`. */
    forgetBefore(time: number): void {
      for (const [text, at] of notedAt) {
        if (at >= time) return;
        notedAt.delete(text);
      }
    },
    clear: (): void => notedAt.clear(),
  };
}
