import { z } from "zod";
import { identifier } from "../identifiers.ts";
import { envelope } from "../messages/messages.ts";

/** Whether a user has begun to type, or has stopped. */
export const typingStatus = z.enum(["start", "stop"]);

/** Whether a user has begun to type, or has stopped. */
export type TypingStatus = z.infer<typeof typingStatus>;

/** How long a status holds unless it is repeated, or ended by `stop` or by a message of the user. */
export const typingHoldsMs = 10_000;

/** What a client sends while its user types. */
export const typingRequest = z.strictObject({
  cid: identifier.meta({ description: "The conversation." }),
  status: typingStatus.default("start").meta({ description: "`stop` once the user has stopped typing." }),
});

/** The body of `PUT /admin/message/typing` (api.md, 2.5). */
export const tellTypingRequest = z
  .strictObject({
    organizationId: envelope.organizationId,
    senderId: identifier.meta({ description: "The participant who types." }),
    typing: z.strictObject({
      cid: identifier.meta({ description: "The conversation." }),
      status: typingStatus.meta({ description: "`start`, repeated while it goes on, or `stop`." }),
    }),
  })
  .meta({ id: "TellTypingRequest" });

/** The body of `PUT /admin/message/typing`. */
export type TellTypingRequest = z.output<typeof tellTypingRequest>;

/** What the other participants hear. */
export const typingEvent = z
  .strictObject({
    typing: z.strictObject({
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "The user who types." }),
      status: typingStatus,
      t: z.int().meta({ description: "Unix epoch seconds." }),
    }),
  })
  .meta({ id: "TypingEvent" });
