import type { Random } from "../harness/random.ts";

/** What a world has of feeds. Times in milliseconds, chances from 0 to 1. */
export type FeedClimate = ReturnType<typeof chooseFeeds>;

/** The traits of a world without feeds. */
export const noFeeds = { consumers: 0, workingMs: 0, restingMs: 0, slowConsumers: 0, worksOff: 1 };

/** Chooses the traits of a world with feeds: consumers come back within the time for which events are kept, or later. */
export function chooseFeeds(random: Random) {
  return {
    consumers: random.integer(1, 4),
    /** The longest time until a consumer stops, and then until it goes on after its cursor. */
    workingMs: random.pick([200, 1_000, 5_000]),
    restingMs: random.pick([300, 3_000, 15_000]),
    slowConsumers: random.pick([0, 0.5]),
    /** How much a consumer that stops has worked off of what has arrived, at least. */
    worksOff: random.pick([0, 0.8, 1]),
  };
}
