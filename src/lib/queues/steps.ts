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
