/**
 * How many rows one statement reads or adds, or looks up names for: about a millisecond of work for the serving thread, after
 * which others get their turn.
 */
export const rowsOfStatement = 500;

/**
 * How many rows a transaction changes at most, so that it holds the writer for a few milliseconds only; a dialect may use
 * fewer for the steps of a large change. See docs/decisions/store/0016.
 */
export const rowsOfStep = 250;

/** How many rows one statement reads of which each may hold thousands of ids. */
export const rowsOfLists = 50;

/** How many bytes a transaction rewrites at most, with the same aim as `rowsOfStep`. */
export const bytesOfStep = 64 * 1024;

/**
 * For how long work gathers where a moment more does not matter, in milliseconds: much of it then shares a commit, a query
 * or a message between nodes.
 */
export const gatherMs = 10;

const pausePerWork = 3; // leaves three quarters of the time to sends, however slow the disk
const shortestPauseMs = 20; // leaves more of it where steps are short
const longestPauseMs = 10_000; // a step that took much longer stood still with its node or its database; less than a lease lasts

/** How long work in the background pauses after a step that took this long, in milliseconds. */
export function pauseAfter(stepMs: number): number {
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, stepMs * pausePerWork));
}
