/** A time in milliseconds. Tests hand in their own. */
export type Clock = { now(): number };

/** The clock of the machine: milliseconds since the Unix epoch. It can be set, and so go back or leap. */
export const systemClock: Clock = { now: () => Date.now() };

/** For spans of time: milliseconds since the process began. It cannot be set. */
export const steadyClock: Clock = { now: () => performance.now() };
