import { z } from "zod";
import { identifier } from "../identifiers.ts";
import { eventNames } from "./event-names.ts";

const feedFilter = z.strictObject({
  kind: z.enum(Object.values(eventNames)).optional().meta({ description: "Only events of this kind." }),
  cid: identifier.optional().meta({
    description:
      "Only messages of this conversation, their edits, recalls and reads, and system messages that were sent to it, and their recalls.",
  }),
  uid: identifier.optional().meta({
    description:
      "Only events that this user sends or receives: messages, edits and recalls in conversations that the user participates in at that moment, system messages that the user receives or sent, among them those to everyone, and their recalls, and reads of or by the user.",
  }),
});

/** What a live feed shows: the events that match every member present. */
export type FeedFilter = z.output<typeof feedFilter>;

/** The query of the live feed. */
export const feedQuery = feedFilter.extend({
  lastEventId: z.string().optional().meta({
    description: "Ignored, like `Last-Event-ID`. Polyfills of `EventSource` add it when they reconnect.",
  }),
});
