import * as feeds from "./faulty/feeds.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { product } from "./product.ts";

const hasFeeds = true;
const recalling = { recalls: 0.2, writes: 100 };

/** Bugs of feeds that the simulation must find, by name. */
export const plantedFeedBugs: Record<string, PlantedBug> = {
  "a cursor is taken though what follows it was removed": {
    product: feeds.takesAnyCursor,
    hasFeeds,
    sign: /leaves out/,
    climate: { isPurged: true, activeMs: 60_000, restingMs: 30_000 },
  },
  "a cursor is taken though a failover has lost it": {
    product: feeds.takesAnyCursor,
    hasFeeds,
    sign: /in another log/,
    climate: { failovers: 1, standbyLagMs: 2_000 },
  },
  "a cursor is refused though all that follows is there": {
    product: feeds.refusesOldCursors,
    hasFeeds,
    sign: /has all that follows/,
  },
  "a feed begins after the event that follows its cursor": {
    product: feeds.beginsOneLater,
    hasFeeds,
    sign: /leaves out/,
  },
  "a feed shows the event of its cursor again": { product: feeds.beginsOneEarlier, hasFeeds, sign: /goes from/ },
  "a feed listens without having read what came before": {
    product: feeds.listensBeforeItHasRead,
    hasFeeds,
    sign: /never shows|leaves out/,
  },
  "a feed takes the memory of its node for the log": { product: feeds.takesMemoryForLog, hasFeeds, sign: /leaves out/ },
  "a feed shows what was recalled since it was read": {
    product: feeds.showsWhatWasRecalledMeanwhile,
    hasFeeds,
    sign: /is written after its recall/,
    climate: { ...recalling, slowConsumers: 1, large: 0.4, largeBytes: 150_000 },
  },
  "a feed shows the texts of what is gone": {
    product,
    hasFeeds,
    hasInboxes: true,
    feedFlaw: "show what is gone",
    sign: /which has expired|is written after/,
  },
  "a feed leaves out what is gone": {
    product,
    hasFeeds,
    feedFlaw: "leave out what is gone",
    sign: /leaves out/,
    climate: recalling,
  },
};
