import { z } from "zod";
import { identifier, identifiers } from "../identifiers.ts";
import { envelope } from "./messages.ts";

/** The maximum number of messages that a call names, and that an event names. */
export const maxReadIds = 100;

/** The most unread messages of a conversation that are counted: 100 means 100 or more. */
export const maxUnread = 100;

/** The body of `PUT /admin/message/read` (api.md, 2.2). */
export const markReadRequest = z
  .strictObject({
    organizationId: envelope.organizationId,
    senderId: identifier.meta({ description: "The participant who has read." }),
    messageRead: z.strictObject({
      cid: identifier.meta({ description: "The conversation." }),
      ids: identifiers("message", maxReadIds).optional().meta({
        description:
          "The `server_mid`s of messages of the conversation: it is read up to the newest of them. Without `ids`, it is read up to its end.",
      }),
    }),
  })
  .meta({ id: "MarkReadRequest" });

/** The body of `PUT /admin/message/read`. */
export type MarkReadRequest = z.output<typeof markReadRequest>;

/** The response to a change that returns nothing else. */
export const successResponse = z.strictObject({ success: z.literal(true) }).meta({ id: "SuccessAnswer" });

/** The response to a change that returns nothing else. */
export type SuccessResponse = z.infer<typeof successResponse>;

/** The event `message_read`, which tells the author of messages that a participant has read them. */
export const messageReadEvent = z
  .strictObject({
    message_read: z.strictObject({
      ids: z.array(z.string()).meta({
        description:
          "The `_id`s of the user's messages that were read now, oldest first: those among the newest 100 that the reader had not read. Everything before them in the conversation is read, too.",
      }),
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "Who has read them." }),
      t: z.int().meta({ description: "When they were read, in Unix epoch seconds." }),
    }),
  })
  .meta({ id: "MessageReadEvent" });

/** A `message_read` in its frame. */
export type MessageReadEvent = z.infer<typeof messageReadEvent>;
