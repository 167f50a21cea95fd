import type { Random } from "../../harness/random.ts";

/** The world of one seed: its size, and what goes wrong in it. Times in milliseconds, chances from 0 to 1. */
export type ScheduleClimate = ReturnType<typeof chooseScheduleClimate>;

/** Chooses a climate. Each kind of trouble is present in some worlds and absent in others, so that none hides another. */
export function chooseScheduleClimate(random: Random) {
  const isCalm = random.next() < 0.35;
  const activeMs = random.pick([1_000, 4_000, 8_000]);
  return {
    /** Nothing fails, so everything is sent promptly. */
    isCalm,
    nodes: random.integer(1, 3),
    organizations: random.pick([1, 2, random.integer(3, 8)]),
    callers: random.integer(1, 4),
    activeMs,
    orders: random.integer(3, random.pick([10, 30, 100])),
    /** The longest time that an order is for ahead. Many orders are for the same moment. */
    aheadMs: random.pick([100, 1_000, activeMs]),
    replaced: random.pick([0, 0.3]),
    cancelled: random.pick([0, 0.3, 0.6]),
    /** How long a message to the database takes. */
    latencyMs: random.pick([0, 2, 20]),
    /** How long a transaction holds the lock of the database; in a calm, not so long that calls alone keep it busy. */
    commitMs: random.pick(isCalm ? [0, 5] : [0, 5, 20]),
    /** How often a commit fails, and how often its answer is lost. */
    aborts: isCalm ? 0 : random.pick([0, 0.1]),
    lostAnswers: isCalm ? 0 : random.pick([0, 0.1]),
    /** How often the rate of the organization is used up. */
    rateLimited: isCalm ? 0 : random.pick([0, 0, 0.1]),
    outages: isCalm ? 0 : random.integer(0, 2),
    kills: isCalm ? 0 : random.integer(0, 3),
  };
}

export const longestTroubleMs = 2_000;
