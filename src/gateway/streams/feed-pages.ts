import { invalidRequest } from "../../contract/errors/errors.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { cursorOf, type LogPlace, logStart } from "../../contract/log/log-place.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { FeedStarts, Feeds } from "../../services/feeds.ts";
import { requestCosts, threadCosts } from "../../services/limits/costs.ts";
import { bytesOf, pageBytes } from "../connections/page-turns.ts";
import type { EventFacts } from "../fanout/event-facts.ts";
import type { FeedLog } from "../log/sequencers.ts";
import { createEventFilter } from "./feed-filter.ts";

const rowsAtOnce = 500;
const mostReads = 20;
const ofPages = "selects what is live only; leave it out, or read the user's deliveries";

type Dependencies = {
  log: Pick<FeedLog, "readShown">;
  feedStarts: FeedStarts;
  facts: Pick<EventFacts, "follow" | "systemOf" | "readOf">;
  thread: ThreadScheduler;
};

/** Creates the reads of pages of feeds. A page holds few events, or none, where the filter selects few; it says where to go on. */
export function createFeedPages({ log, feedStarts, facts, thread }: Dependencies): Feeds["page"] {
  return async ({ org, filter, after, limit, pay }) => {
    if (filter.uid !== undefined) throw invalidRequest("/uid", ofPages, `\`uid\` ${ofPages}`);
    const start = after === undefined ? undefined : await feedStarts.resume(org, after);
    const head = start ?? (await feedStarts.now(org, undefined)).place;
    const shows = createEventFilter(filter, [], facts);
    const events: LogEvent[] = [];
    let place: LogPlace = start ?? logStart;
    for (let reads = 0; reads < mostReads && events.length < limit && bytesOf(events) < pageBytes; reads++) {
      const read = await log.readShown(org, place.offset, rowsAtOnce, pageBytes);
      await thread.turn(org, threadCosts.bytes(bytesOf(read)));
      await pay(requestCosts.replay(read.length, bytesOf(read)));
      for (const event of read) {
        place = event;
        if (shows(event)) events.push(event);
        if (events.length === limit) break;
      }
      if (read.length < rowsAtOnce && bytesOf(read) < pageBytes) break;
    }
    return { events, next: cursorOf(place === logStart ? head : place) };
  };
}
