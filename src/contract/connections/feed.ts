import { z } from "zod";
import { pageQuery } from "../directory.ts";
import { identifier } from "../identifiers.ts";
import { placeIn } from "../log/log-place.ts";
import { eventNames } from "./event-names.ts";

const names = z.enum([...new Set(Object.values(eventNames))]);

const feedFilter = z.strictObject({
  kind: names.optional().meta({ description: "Only events of this kind." }),
  types: z.array(names).min(1).optional().meta({ description: "Only events of these kinds." }),
  cid: identifier.optional().meta({
    description:
      "Only messages of this conversation, their edits, recalls, reactions and reads, and system messages that were sent to it, and their recalls.",
  }),
  uid: identifier.optional().meta({
    description:
      "Only events that this user sends or receives: messages, edits, recalls and reactions in conversations that the user participates in at that moment, system messages that the user receives or sent, among them those to everyone, and their recalls, and reads of or by the user. Follows what is live only: it cannot be combined with `after`.",
  }),
});

/** What a feed shows: the events that match every member present. */
export type FeedFilter = z.output<typeof feedFilter>;

const cursor = z
  .string()
  .refine((text) => placeIn(text) !== undefined, "must be the `id:` of an event of this feed, unchanged")
  .optional();

/** The query of the feed. */
export const feedQuery = feedFilter.extend({
  after: cursor.meta({
    description:
      "A cursor, the `id:` of an event: the feed begins with the event after it. Without it, a stream begins with what comes from now on, and a page with the oldest event that is kept.",
    examples: ["4711-019aa8c4-7a3e-7b1f-8c2d-0123456789ab"],
  }),
  lastEventId: cursor.meta({
    description: "The same as `Last-Event-ID`, as polyfills of `EventSource` send it when they reconnect.",
  }),
  limit: pageQuery.shape.limit, // of a page
});

/** The headers that the feed understands. */
export const feedRequestHeaders = z.strictObject({
  "Last-Event-ID": z.string().optional().meta({
    description: "The cursor with which an `EventSource` reconnects. It counts before `lastEventId` and `after`.",
  }),
});

/** The media type of a page of the feed: a batch of CloudEvents 1.0 (JSON Event Format, section 4). */
export const cloudEventsType = "application/cloudevents-batch+json";

/** One event of a page of the feed. */
export const cloudEvent = z
  .strictObject({
    specversion: z.literal("1.0"),
    id: z.string().meta({ description: "The cursor of the event." }),
    source: z.string().meta({ description: "The path of the feed." }),
    type: names.meta({ description: "The kind of the event." }),
    time: z.string().meta({ description: "When it was committed, in ISO 8601 UTC with milliseconds." }),
    datacontenttype: z.literal("application/json"),
    data: z.record(z.string(), z.unknown()).meta({ description: "The event, as recipients get it." }),
  })
  .meta({ id: "CloudEvent" });
