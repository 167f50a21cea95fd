import { z } from "zod";
import { identifier } from "../identifiers.ts";

/** The query of the live feed. */
export const feedQuery = z.strictObject({
  kind: z.enum(["message", "system_message"]).optional().meta({ description: "Only events of this kind." }),
  cid: identifier
    .optional()
    .meta({ description: "Only messages of this conversation; system messages belong to none, so there are none." }),
  uid: identifier.optional().meta({
    description:
      "Only what this user sent or is to receive: the messages of the conversations in which the user takes part at that moment, the system messages that name the user, and those that the user sent.",
  }),
});

/** What a live feed shows: what fits every member that is there. */
export type FeedFilter = z.output<typeof feedQuery>;
