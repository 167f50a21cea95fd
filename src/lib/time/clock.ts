/** A time in milliseconds. Tests pass their own. */
export type Clock = { now(): number };

/** A clock that never goes back. */
export type SteadyClock = Clock;

/** The wall clock: milliseconds since the Unix epoch. It can be set, and so may jump in either direction. */
export const systemClock: Clock = Date;

/** The clock for durations: milliseconds since the process began. It cannot be set. */
export const steadyClock: SteadyClock = performance;
