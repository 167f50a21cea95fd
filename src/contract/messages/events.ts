import { z } from "zod";
import { createdAt, isoTime } from "../identifiers.ts";

/** The members of a message that name another. */
export const references = {
  replied_message_id: z.string().optional().meta({
    description: "The `_id` of the message that it replies to, which may be gone. Absent if it replies to none.",
  }),
  forwarded_message_id: z.string().optional().meta({
    description:
      "The `_id` of the message that it forwards, which may be gone or of another conversation. Absent if it forwards none.",
  }),
};

const timestamp = z.int().meta({ description: "Unix epoch seconds." });
const freeForm = z.record(z.string(), z.unknown()).meta({ description: "The custom parameters, exactly as sent." });

const silent = z.literal(true).optional().meta({
  description: "Present if it was sent silently: it counts as unread nowhere, and clients should not alert the user.",
});

const open = z.literal(true).optional().meta({
  description:
    "Present while the text is not complete: pieces follow as `message_append`. It counts as unread nowhere until then.",
});

const expiresAt = isoTime.optional().meta({
  description: "When it ends: clients should not show it from then on. Absent if it has no end.",
});

const attachment = z.strictObject({
  file_id: z.string().meta({ description: "The id of the file." }),
  file_name: z.string().meta({ description: "The `name` of the send." }),
});

/**
 * A message of a conversation, as recipients and history see it (seed, 2.4). Eight members are always present; `silent` of one that
 * was sent silently, `open` of one that still grows, `expires_at` of one that ends, and the id of a message that it replies to or
 * forwards.
 */
export const messageSchema = z
  .strictObject({
    _id: z.string().meta({ description: "The `server_mid` of the send." }),
    t: timestamp,
    from: z.string().meta({ description: "The sender's user id." }),
    body: z.string().meta({ description: "The text." }),
    cid: z.string().meta({ description: "The conversation." }),
    x: freeForm,
    attachments: z.array(attachment),
    created_at: createdAt,
    silent,
    open,
    expires_at: expiresAt,
    ...references,
  })
  .meta({ id: "Message" });

/** A message of a conversation, as recipients and history see it. */
export type Message = z.infer<typeof messageSchema>;

/** How often users have reacted to a message, by reaction. */
const reactionCounts = z
  .record(z.string(), z.int().positive())
  .meta({ description: "How many users have reacted in which way." });

/**
 * A message as lists show it: with the time of its last edit, if there was one, and with reactions, if there are some. Lists of a user
 * name the user's own.
 */
export const listedMessageSchema = messageSchema
  .extend({
    edited_at: isoTime.optional().meta({
      description: "When the message was last edited. Only edited messages have it.",
    }),
    reactions: z
      .strictObject({
        own: z.array(z.string()).optional().meta({
          description: "Those of the user who lists, in the order of their characters. Absent in lists by API key.",
        }),
        total: reactionCounts,
      })
      .optional()
      .meta({ title: "Reactions", description: "Absent if nobody has reacted." }),
  })
  .meta({ id: "ListedMessage" });

/** A message as lists show it. */
export type ListedMessage = z.infer<typeof listedMessageSchema>;

/** A message as lists over a socket show it: also with what SAMA clients read. */
export const shownMessageSchema = listedMessageSchema
  .extend({
    attachments: z.array(
      attachment.extend({
        file_content_type: z.string().optional().meta({
          description: "The media type of the file. Absent if the file is gone.",
        }),
        file_size: z.int().min(0).optional().meta({ description: "In bytes. Absent if the file is gone." }),
      }),
    ),
    updated_at: isoTime.meta({ description: "When the message was last edited, or else was sent." }),
  })
  .meta({ id: "ShownMessage" });

/** A message as lists over a socket show it. */
export type ShownMessage = z.infer<typeof shownMessageSchema>;

/** The event `message`. */
export const messageEvent = z.strictObject({ message: messageSchema }).meta({ id: "MessageEvent" });

/** The event `message`. */
export type MessageEvent = z.infer<typeof messageEvent>;

/**
 * A system message, as recipients see it (seed, 2.5). Four members are always present, `cid` if it was sent to a conversation,
 * `created_at` and `key` if it is kept, `silent` if it was sent silently, and `expires_at` if it ends.
 */
export const systemMessageSchema = z.strictObject({
  _id: z.string().meta({ description: "The `messageSystem.id` of the send." }),
  t: timestamp,
  from: z.string().meta({ description: "The sender's user id." }),
  x: freeForm,
  cid: z.string().optional().meta({
    description: "The conversation that it was sent to. Absent if it was sent to a list of users or to everyone.",
  }),
  created_at: createdAt.optional().meta({
    description: "When it was sent, in ISO 8601 UTC with milliseconds. Only system messages with `keep_days` have it.",
  }),
  key: z.string().optional().meta({
    description: "It replaces earlier ones of the same sender with this key. Absent if it was sent without one.",
  }),
  silent,
  expires_at: expiresAt,
});

/** The event `system_message`. */
export const systemMessageEvent = z
  .strictObject({ system_message: systemMessageSchema })
  .meta({ id: "SystemMessageEvent" });

/** A system message in its frame. */
export type SystemMessageEvent = z.infer<typeof systemMessageEvent>;

/** The event `message_edit`: a message says something else from now on. */
export const messageEditEvent = z
  .strictObject({
    message_edit: z.strictObject({
      id: z.string().meta({ description: "The `_id` of the message." }),
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "The user who edited it, which is its sender." }),
      body: z.string().meta({ description: "The new text." }),
      x: freeForm,
      t: timestamp,
    }),
  })
  .meta({ id: "MessageEditEvent" });

/** An edit of a message in its frame. */
export type MessageEditEvent = z.infer<typeof messageEditEvent>;

/** The event `message_append`: an open message has more text, or is complete (api.md, 2.5). */
export const messageAppendEvent = z
  .strictObject({
    message_append: z.strictObject({
      id: z.string().meta({ description: "The `_id` of the message." }),
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "The sender of the message." }),
      offset: z.int().nonnegative().meta({
        description:
          "Where the piece begins, in Unicode code points of the text. After a reconnect it may lie before the end of what is known: only what lies beyond is new.",
      }),
      text: z.string().meta({ description: "The piece; it may be empty if `done` is `true`." }),
      done: z.boolean().meta({ description: "Whether the message is complete." }),
      t: timestamp,
    }),
  })
  .meta({ id: "MessageAppendEvent" });

/** A piece of a message in its frame. */
export type MessageAppendEvent = z.infer<typeof messageAppendEvent>;

/** The event `message_delete`: messages were taken back, or hidden by the user who hears it. */
export const messageDeleteEvent = z
  .strictObject({
    message_delete: z.strictObject({
      ids: z.array(z.string()).meta({ description: "The `_id`s of the messages." }),
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "The participant who took them back, or hid them." }),
      type: z.enum(["all", "myself"]).meta({
        description:
          "`all`: the messages are gone for everyone. `myself`: `from` has hidden them from the own lists; only the own connections hear it.",
      }),
      t: timestamp,
    }),
  })
  .meta({ id: "MessageDeleteEvent" });

/** A recall or a hiding of messages in its frame. */
export type MessageDeleteEvent = z.infer<typeof messageDeleteEvent>;

/** The event `system_message_delete`: system messages were taken back. */
export const systemMessageDeleteEvent = z
  .strictObject({
    system_message_delete: z.strictObject({
      ids: z.array(z.string()).meta({ description: "The `_id`s of the system messages, all sent by `from`." }),
      from: z.string().meta({ description: "The user who sent them." }),
      t: timestamp,
    }),
  })
  .meta({ id: "SystemMessageDeleteEvent" });

/** A recall of system messages in its frame. */
export type SystemMessageDeleteEvent = z.infer<typeof systemMessageDeleteEvent>;

/** A reaction: an emoji, or another short text. */
const reaction = (description: string) => z.string().optional().meta({ description });

/** The event `message_reactions_update`: a participant has reacted to a message, or takes a reaction back. */
export const messageReactionsUpdateEvent = z
  .strictObject({
    message_reactions_update: z.strictObject({
      mid: z.string().meta({ description: "The `_id` of the message." }),
      cid: z.string().meta({ description: "The conversation." }),
      from: z.string().meta({ description: "The participant who reacted." }),
      add: reaction("The reaction that was added. Absent if none was."),
      remove: reaction("The reaction that was removed. Absent if none was."),
    }),
  })
  .meta({ id: "MessageReactionsUpdateEvent" });

/** A change of reactions in its frame. */
export type MessageReactionsUpdateEvent = z.infer<typeof messageReactionsUpdateEvent>;

/** Sent once before a session expires: `connect` again with a fresh token to extend it. */
export const sessionEvent = z
  .strictObject({ session: z.strictObject({ expires_at: isoTime }) })
  .meta({ id: "SessionEvent" });
