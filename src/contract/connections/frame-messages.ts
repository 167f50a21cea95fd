import { z } from "zod";
import {
  conversationExample,
  earlierMessageExample,
  exampleIds,
  inboxItemExample,
  messageAppendExample,
  messageDeleteExample,
  messageEditExample,
  messageExample,
  messageReactionsUpdateExample,
  messageReadExample,
  systemMessageDeleteExample,
  systemMessageExample,
  systemMessageReadExample,
  tokenExample,
  userViewExample,
} from "../documents/examples.ts";
import { exampleHost } from "../documents/place.ts";
import { errorCatalogue } from "../errors/errors.ts";
import { errorAbout } from "../errors/naming.ts";
import {
  messageAppendEvent,
  messageDeleteEvent,
  messageEditEvent,
  messageEvent,
  messageReactionsUpdateEvent,
  sessionEvent,
  systemMessageDeleteEvent,
  systemMessageEvent,
} from "../messages/events.ts";
import { systemMessageReadEvent } from "../messages/inbox.ts";
import { messageReadEvent } from "../messages/reads.ts";
import { type FrameOperation, frameError, frameId, frameRequests, frameResponses, lastActivity } from "./frames.ts";
import { typingEvent } from "./typing.ts";

/** One JSON text on a socket: its purpose, its schema, and an example. */
export type FrameMessage = { title: string; summary: string; schema: z.ZodType; example: unknown };

/** A request, what it does, and its response. */
export type FrameExchange = { summary: string; request: FrameMessage; response: FrameMessage };

const shown = (message: typeof messageExample) => ({ ...message, updated_at: message.created_at });

type Parts = { summary: string; id: string; request: unknown; response: Record<string, unknown> };

/** The requests that a client may send over its WebSocket, by name. */
export const frameExchanges: Record<FrameOperation, FrameExchange> = {
  connect: exchange("connect", {
    summary:
      "Starts the session. Without `since`, the server replays no earlier messages. To extend the session, send `connect` again on the same socket with a fresh token for the same user.",
    id: "1",
    request: { token: tokenExample.token, device_id: "phone", since: messageExample._id },
    response: {
      success: true,
      organization_id: exampleIds.organization,
      user_id: exampleIds.user,
      connection_id: "01a1f910-5800-7b1a-8c3d-4e5f60718293",
      expires_at: tokenExample.expires_at,
      recovered: true,
    },
  }),
  ping: exchange("ping", {
    summary: "Checks that the server is responding.",
    id: "2",
    request: {},
    response: { pong: {} },
  }),
  conversation_list: exchange("conversation_list", {
    summary:
      "Lists the user's conversations, most recently active first. A page ends early after 256 KiB of last messages.",
    id: "3",
    request: { limit: 50 },
    response: {
      conversations: [
        {
          _id: conversationExample.id,
          name: conversationExample.name,
          type: "g",
          created_at: conversationExample.created_at,
          updated_at: messageExample.created_at,
          unread_messages_count: 3,
          last_message: shown(messageExample),
        },
      ],
      cursor: null,
    },
  }),
  message_list: exchange("message_list", {
    summary: "Pages through the history of a conversation, newest first, or oldest first with `after`.",
    id: "4",
    request: { cid: exampleIds.conversation, limit: 50, before: messageExample._id },
    response: { messages: [shown(earlierMessageExample)] },
  }),
  message_reactions_list: exchange("message_reactions_list", {
    summary: "Lists who has reacted to a message in one of the user's conversations, and how.",
    id: "18",
    request: { mid: messageExample._id },
    response: { reactions: { "👍": [exampleIds.user] } },
  }),
  ack: exchange("ack", {
    summary:
      "Acknowledges messages and system messages, so that their delivery reports count the user. The server ignores ids that were not sent to the user. Repeating an acknowledgement has no effect.",
    id: "5",
    request: { ids: [messageExample._id, systemMessageExample._id] },
    response: { success: true },
  }),
  message_read: exchange("message_read", {
    summary:
      "Marks messages of a conversation as read: up to the newest of `ids`, or to its end. Each author of what is newly read hears `message_read`. Repeating it has no effect.",
    id: "6",
    request: { cid: exampleIds.conversation, ids: [messageExample._id] },
    response: { success: true },
  }),
  system_message_list: exchange("system_message_list", {
    summary:
      "Pages through the user's inbox, newest first: system messages with `keep_days` that were addressed to the user. A page ends early after 512 KiB.",
    id: "13",
    request: { limit: 50, unread: true },
    response: { system_messages: [inboxItemExample] },
  }),
  system_message_read: exchange("system_message_read", {
    summary:
      "Marks system messages in the user's inbox as read, or with `seen` as seen. The user's connections hear `system_message_read`. Repeating it has no effect.",
    id: "14",
    request: { ids: [systemMessageExample._id] },
    response: { success: true },
  }),
  get_users_by_ids: exchange("get_users_by_ids", {
    summary:
      "Tells about users who share a conversation with the user. Others are left out, whether they exist or not.",
    id: "7",
    request: { ids: [exampleIds.user] },
    response: { users: [userViewExample] },
  }),
  get_participants_by_cids: exchange("get_participants_by_cids", {
    summary:
      "Lists who takes part in conversations. Conversations in which the user takes no part are left out, whether they exist or not.",
    id: "8",
    request: { cids: [exampleIds.conversation] },
    response: { users: [userViewExample], conversations: { [exampleIds.conversation]: [exampleIds.user] } },
  }),
  get_file_urls: exchange("get_file_urls", {
    summary:
      "Gives addresses of files, which need no token. Files that no message of the user's conversations names are left out, whether they exist or not.",
    id: "12",
    request: { file_ids: [exampleIds.file] },
    response: {
      file_urls: {
        [exampleIds.file]: `http://${exampleHost}/files/${exampleIds.file}?signature=eyJhbGciOiJIUzI1NiJ9.e30.c2ln`,
      },
    },
  }),
  user_last_activity: exchange("user_last_activity", {
    summary:
      "Tells when users who share a conversation with the user were last active. Others are left out, whether they exist or not.",
    id: "15",
    request: { ids: [exampleIds.user] },
    response: { last_activity: { [exampleIds.user]: 42 } },
  }),
  user_last_activity_subscribe: exchange("user_last_activity_subscribe", {
    summary:
      "From now on, this connection hears `last_activity` of a user who shares a conversation with its own, and of no other user. The response says what is so now; for a user who never connected, since the user was created.",
    id: "9",
    request: { id: exampleIds.user },
    response: { last_activity: { [exampleIds.user]: 42 } },
  }),
  user_last_activity_unsubscribe: exchange("user_last_activity_unsubscribe", {
    summary: "Ends the connection's subscription, if it has one.",
    id: "10",
    request: {},
    response: { success: true },
  }),
  activity_status: exchange("activity_status", {
    summary:
      "Tells that the client is in the background, or back. While all connections of a user are inactive, on all nodes, what is written to them counts as not reached for webhooks (`unacknowledged`), unless the user acknowledges it. An inactive client hears everything as before. A new connection is active.",
    id: "16",
    request: { isInactive: true },
    response: { success: true },
  }),
  typing: exchange("typing", {
    summary:
      'Tells the other participants of a conversation who are connected that the user is typing, or has stopped. Also taken as SAMA clients send it, outside of `request`: `{"typing":{"cid":"…"}}`; then the response has its `id` or, without one, the `cid`. Nothing is stored. Each node passes it on to at most 250 connections of a conversation: with more, to none.',
    id: "17",
    request: { cid: exampleIds.conversation, status: "start" },
    response: { success: true },
  }),
  user_logout: exchange("user_logout", {
    summary:
      "Ends this connection, which the server then closes with 1000. The token stays valid until it expires: your backend revokes it.",
    id: "11",
    request: {},
    response: { success: true },
  }),
};

const errorExample = errorAbout("not_a_participant", {
  user: exampleIds.user,
  conversation: exampleIds.conversation,
});

/** The response to a request that failed or, without `id`, to a frame that cannot be read. */
export const errorResponse: FrameMessage = {
  title: "Error",
  summary: "The request with this `id` failed. Without an `id`, the server could not read the frame.",
  schema: z.strictObject({ response: frameError.extend({ id: frameId.optional() }) }).meta({ id: "ErrorResponse" }),
  example: {
    response: {
      id: "4",
      error: { status: errorExample.status, code: errorExample.code, message: errorCatalogue.not_a_participant.advice },
    },
  },
};

/** The events that Herald sends unprompted, by their single top-level key. */
export const frameEvents = {
  message: {
    title: "Message",
    summary: "A message in one of the user's conversations, including messages that the user sent.",
    schema: messageEvent,
    example: { message: messageExample },
  },
  system_message: {
    title: "System message",
    summary:
      "A system message to the user, to one of the user's conversations, or to everyone in the organization. Only those with `keep_days` are replayed.",
    schema: systemMessageEvent,
    example: { system_message: systemMessageExample },
  },
  message_read: {
    title: "Message read",
    summary:
      "A participant has read messages of the user. Never replayed: after a gap, the next one says how far the participant has read.",
    schema: messageReadEvent,
    example: messageReadExample,
  },
  message_edit: {
    title: "Message edit",
    summary:
      "A message in one of the user's conversations says something else from now on. A client that does not know the message ignores it; hearing it again changes nothing.",
    schema: messageEditEvent,
    example: { message_edit: messageEditExample },
  },
  message_delete: {
    title: "Message delete",
    summary:
      "Messages in one of the user's conversations were taken back (`all`), or hidden by the user (`myself`), which nobody else hears. A client removes those that it knows; hearing it again changes nothing.",
    schema: messageDeleteEvent,
    example: { message_delete: messageDeleteExample },
  },
  message_reactions_update: {
    title: "Message reactions update",
    summary:
      "A participant has reacted to a message in one of the user's conversations, or takes a reaction back. A client that does not know the message ignores it. It counts nobody: lists have the counts.",
    schema: messageReactionsUpdateEvent,
    example: { message_reactions_update: messageReactionsUpdateExample },
  },
  message_append: {
    title: "Message append",
    summary:
      "An open message in one of the user's conversations has more text, or is complete. A client that does not know the message ignores it; one whose text is shorter than `offset` asks with `message_list`.",
    schema: messageAppendEvent,
    example: { message_append: messageAppendExample },
  },
  system_message_read: {
    title: "System message read",
    summary:
      "The user has seen or read system messages in the inbox, on one of the user's connections. Never replayed: after a gap, `system_message_list` tells.",
    schema: systemMessageReadEvent,
    example: systemMessageReadExample,
  },
  system_message_delete: {
    title: "System message delete",
    summary:
      "System messages to the user were taken back. A client removes those that it knows. Replayed only for those with `keep_days`.",
    schema: systemMessageDeleteEvent,
    example: { system_message_delete: systemMessageDeleteExample },
  },
  last_activity: {
    title: "Last activity",
    summary:
      "The user that the connection has subscribed to has connected, on whichever node, or the user's last connection has ended. Sent over WebSockets only, and never replayed.",
    schema: z.strictObject({ last_activity: lastActivity }).meta({ id: "LastActivityEvent" }),
    example: { last_activity: { [exampleIds.user]: 0 } },
  },
  typing: {
    title: "Typing",
    summary:
      "Another participant of one of the user's conversations is typing, or has stopped. It ends with a message of that participant, or after 10 s unless it is repeated. Sent over WebSockets only, and never replayed.",
    schema: typingEvent,
    example: {
      typing: { cid: exampleIds.conversation, from: exampleIds.user, status: "start", t: messageExample.t },
    },
  },
  session: {
    title: "Session",
    summary:
      "The token is about to expire: send `connect` again with a fresh one. Sent once. The server closes the connection after `expires_at`.",
    schema: sessionEvent,
    example: { session: { expires_at: tokenExample.expires_at } },
  },
} as const satisfies Record<string, FrameMessage>;

function exchange(operation: FrameOperation, { summary, id, request, response }: Parts): FrameExchange {
  const name = pascalCase(operation);
  return {
    summary,
    request: {
      title: `${operation} request`,
      summary,
      schema: z
        .strictObject({ request: z.strictObject({ [operation]: frameRequests[operation], id: frameId }) })
        .meta({ id: `${name}Request` }),
      example: { request: { [operation]: request, id } },
    },
    response: {
      title: `${operation} response`,
      summary: `The response to \`${operation}\`.`,
      schema: z
        .strictObject({ response: frameResponses[operation].extend({ id: frameId }) })
        .meta({ id: `${name}Response` }),
      example: { response: { id, ...response } },
    },
  };
}

/** `message_list` and `message.list` as `MessageList`. */
export function pascalCase(name: string): string {
  return name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
