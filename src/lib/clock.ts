/** The time, in milliseconds since the Unix epoch unless said otherwise. Tests hand in their own. */
export type Clock = { now(): number };

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds since some moment: never goes back, whatever becomes of the time. */
export const monotonicClock: Clock = { now: () => performance.now() };
