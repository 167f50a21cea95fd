import { z } from "zod";
import { isAtMost } from "../../lib/text/text.ts";
import { createdAt, identifier, identifiers, isoTime } from "../identifiers.ts";
import { shownMessageSchema } from "../messages/events.ts";
import { inboxItem, inboxRequests } from "../messages/inbox.ts";
import { maxReadIds, maxUnread } from "../messages/reads.ts";
import { typingRequest } from "./typing.ts";

const maxTokenCharacters = 8192;
const maxIdCharacters = 128;
const maxPage = 100;
const maxAcknowledged = 100;
const maxNamed = 100;
const limit = z.int().min(1).max(maxPage).default(50).meta({ description: "The number of items in a page." });
const cursor = z.string().min(1).max(1024).meta({ description: "The `cursor` of the previous page." });

const time = z
  .union([
    z.int().min(0),
    z
      .string()
      .max(64)
      .refine((text) => !Number.isNaN(Date.parse(text)), "must be a time, such as 2026-11-20T13:06:00.123Z")
      .transform((text) => Date.parse(text)),
  ])
  .meta({ description: "In milliseconds since the Unix epoch, or ISO 8601." });
const between = z.strictObject({ gt: time.optional(), lt: time.optional() });

/** The requests that a client may send over its socket. Each gets exactly one response. */
export const frameRequests = {
  connect: z.strictObject({
    token: z.string().min(1).max(maxTokenCharacters).meta({ description: "A user token." }),
    device_id: z
      .union([identifier, z.number().transform(String), z.null().transform(() => undefined)])
      .optional()
      .meta({
        description:
          "A label for the operator; SAMA clients also send a number, or `null` before they have one. Connecting with a label in use replaces no connection.",
      }),
    since: identifier.optional().meta({ description: "The `_id` of the last message that the client received." }),
  }),
  ping: z.strictObject({}),
  conversation_list: z.strictObject({
    limit,
    cursor: cursor.optional(),
    updated_at: between
      .optional()
      .meta({ description: "Only conversations whose `updated_at` is later than `gt` and earlier than `lt`." }),
  }),
  message_list: z.strictObject({
    cid: identifier.meta({ description: "The conversation." }),
    limit,
    before: identifier.optional().meta({ description: "Only messages older than this `_id`." }),
    after: identifier.optional().meta({ description: "Only messages newer than this `_id`, oldest first." }),
    ids: identifiers("message", maxNamed)
      .optional()
      .meta({ description: "Only these messages. Not together with the other conditions." }),
    updated_at: between.optional().meta({
      description: "Only messages whose `created_at` is later than `gt` and earlier than `lt`, newest first.",
    }),
  }),
  message_reactions_list: z.strictObject({
    mid: identifier.meta({ description: "The message, in one of the user's conversations." }),
  }),
  ack: z.strictObject({
    ids: identifiers("message", maxAcknowledged).meta({
      description: "The `_id`s of messages and system messages that the client received.",
    }),
  }),
  message_read: z.strictObject({
    cid: identifier.meta({ description: "The conversation." }),
    ids: identifiers("message", maxReadIds).optional().meta({
      description:
        "The `_id`s of messages of the conversation: it is read up to the newest of them. Without `ids`, it is read up to its end.",
    }),
  }),
  ...inboxRequests,
  get_users_by_ids: z.strictObject({
    ids: identifiers("user", maxNamed).meta({ description: "The users." }),
  }),
  get_participants_by_cids: z.strictObject({
    cids: identifiers("conversation", maxNamed).meta({ description: "The conversations." }),
  }),
  get_file_urls: z.strictObject({
    file_ids: identifiers("file", maxNamed).meta({ description: "The `file_id`s of attachments." }),
  }),
  user_last_activity: z.strictObject({
    ids: identifiers("user", maxNamed).meta({ description: "The users." }),
  }),
  user_last_activity_subscribe: z.strictObject({ id: identifier.meta({ description: "The user." }) }),
  user_last_activity_unsubscribe: z.strictObject({}),
  activity_status: z.strictObject({
    isInactive: z.boolean().default(false).meta({ description: "Whether the client is in the background." }),
  }),
  typing: typingRequest,
  user_logout: z.strictObject({}),
} as const;

/** The name of a request. */
export type FrameOperation = keyof typeof frameRequests;

/** The `id` that a client gave its request, echoed in the response. */
export const frameId = z
  .union([
    z
      .string()
      .refine((id) => isAtMost(id, maxIdCharacters), `must be at most ${maxIdCharacters} characters`)
      .meta({ maxLength: maxIdCharacters }),
    z.number(),
  ])
  .meta({ description: "An id that the client chooses. The response carries the same one." });

/** The `id` of a request. */
export type FrameId = z.infer<typeof frameId>;

/** A conversation, as its participants see it. */
export const conversationView = z
  .strictObject({
    _id: z.string().meta({ description: "The conversation." }),
    name: z.string().nullable().meta({ description: "The name, or `null` if none is set." }),
    type: z.literal("g").meta({ description: "A group conversation, in SAMA's terms. Herald has no other type." }),
    created_at: createdAt,
    updated_at: isoTime.meta({ description: "The time of its last message." }),
    unread_messages_count: z.int().min(0).max(maxUnread).meta({
      description:
        "The number of messages that others sent since the user joined and that the user has not read. Counted up to 100: 100 means 100 or more.",
    }),
    last_message: shownMessageSchema.nullable().meta({
      description: "The last message; `null` if there is none, or none among the last 250 events of the conversation.",
    }),
  })
  .meta({ id: "ConversationView" });

/** A conversation, as its participants see it. */
export type ConversationView = z.infer<typeof conversationView>;

/** A user, as those see it who share a conversation with the user. */
export const userView = z
  .strictObject({
    _id: z.string().meta({ description: "The user." }),
    login: z.string().meta({ description: "The user's name, or the id if no name is set." }),
    created_at: createdAt,
  })
  .meta({ id: "UserView" });

/** A user, as those see it who share a conversation with the user. */
export type UserView = z.infer<typeof userView>;

/** Users, and since when they are away. */
export const lastActivity = z.record(z.string(), z.int().min(0)).meta({
  description: "By user: 0 while the user is connected, otherwise the seconds since.",
});

/** The responses without their `id`, by request. */
export const frameResponses = {
  connect: z.strictObject({
    success: z.literal(true),
    organization_id: z.string().meta({ description: "The token's organization." }),
    user_id: z.string().meta({ description: "The token's user." }),
    connection_id: z.string().meta({ description: "The id of this connection in the server's log." }),
    expires_at: isoTime.meta({ description: "When the token expires." }),
    recovered: z.boolean().optional().meta({
      description: "Whether the server replays everything that was missed. Present only if the request had `since`.",
    }),
    unread_system_messages_count: z.int().min(0).optional().meta({
      description: "The number of unread system messages in the user's inbox. Absent while the user has none.",
    }),
  }),
  ping: z.strictObject({ pong: z.strictObject({}) }),
  conversation_list: z.strictObject({
    conversations: z.array(conversationView),
    cursor: z.string().nullable().meta({ description: "The cursor of the next page, or `null` on the last page." }),
  }),
  message_list: z.strictObject({ messages: z.array(shownMessageSchema) }),
  message_reactions_list: z.strictObject({
    reactions: z.record(z.string(), z.array(z.string())).meta({
      description:
        "Who has reacted in each way: of the first 1,000 reactions, by user. `message_list` has the counts of all.",
    }),
  }),
  ack: z.strictObject({ success: z.literal(true) }),
  message_read: z.strictObject({ success: z.literal(true) }),
  system_message_list: z.strictObject({ system_messages: z.array(inboxItem) }),
  system_message_read: z.strictObject({ success: z.literal(true) }),
  get_users_by_ids: z.strictObject({
    users: z.array(userView).meta({
      description: "By id: those of the users who share a conversation with the user, and the user itself.",
    }),
  }),
  get_participants_by_cids: z.strictObject({
    users: z.array(userView).meta({ description: "By id: every user of the lists, once." }),
    conversations: z.record(z.string(), z.array(z.string())).meta({
      description:
        "The participants of each of the conversations that the user takes part in, by id: the first 1,000 of each, and 5,000 together.",
    }),
  }),
  get_file_urls: z.strictObject({
    file_urls: z.record(z.string(), z.string()).meta({
      description:
        "By `file_id`: the address of each of the files that the user may download, on the host that the client has connected to. It is valid for 10 minutes, for this user and file only.",
    }),
  }),
  user_last_activity: z.strictObject({ last_activity: lastActivity }),
  user_last_activity_subscribe: z.strictObject({ last_activity: lastActivity }),
  user_last_activity_unsubscribe: z.strictObject({ success: z.literal(true) }),
  activity_status: z.strictObject({ success: z.literal(true) }),
  typing: z.strictObject({ success: z.literal(true) }),
  user_logout: z.strictObject({ success: z.literal(true) }),
} as const;

/** An error on the socket. */
export const frameError = z.strictObject({
  error: z.strictObject({
    status: z.int().meta({ description: "The HTTP status for the code." }),
    code: z.string().meta({ description: "The error code, for programs to act on." }),
    message: z.string().meta({ description: "What went wrong, and what to do next." }),
  }),
});
