/** The time, in milliseconds since the Unix epoch. Tests hand in their own. */
export type Clock = { now(): number };

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };
