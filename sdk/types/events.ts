import type { ErrorCode } from "../error-codes.ts";

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** Free-form custom parameters: any JSON object. */
export type CustomParameters = { [member: string]: Json };

/** An attachment as recipients see it. */
export type DeliveredAttachment = {
  /** The id of the file, for `client.fileUrl` and `client.download`. */
  file_id: string;
  /** The name of the file. */
  file_name: string;
  /** The media type of the file; only in lists over a WebSocket. */
  file_content_type?: string;
  /** Its size in bytes; only in lists over a WebSocket. */
  file_size?: number;
};

/** A conversation message as it is delivered. `t` is in Unix seconds, `created_at` is ISO 8601 UTC. */
export type Message<X = CustomParameters> = {
  /** The id that the server gave it. */
  _id: string;

  /** When it was sent, in Unix seconds. */
  t: number;

  /** The user who sent it. */
  from: string;

  /** The text, which may be empty if there are attachments. */
  body: string;

  /** The conversation that it was sent to. */
  cid: string;

  /** Custom parameters, as they were sent. */
  x: X;

  /** The attachments, in their order. */
  attachments: DeliveredAttachment[];

  /** When it was sent: ISO 8601, in UTC, with milliseconds. */
  created_at: string;

  /** Present if it was sent silently: it counts as unread nowhere. Do not alert the user. */
  silent?: true;
  /** Present while the text is not complete: pieces follow as `message_append`. It counts as unread nowhere until then. */
  open?: true;
  /** When it ends, in ISO 8601, if it does. Do not show it from then on. */
  expires_at?: string;
  /** The `_id` of the message that it replies to, if it does. That one may be gone. */
  replied_message_id?: string;
  /** The `_id` of the message that it forwards, if it does. That one may be gone, or of another conversation. */
  forwarded_message_id?: string;
};

/** A message in a list: with the time of its last edit (ISO 8601), if there was one. */
export type ListedMessage<X = CustomParameters> = Message<X> & {
  /** When it was last edited, in ISO 8601. */
  edited_at?: string;
  /** When it was last edited, or else was sent; only in lists over a WebSocket. */
  updated_at?: string;
  /** How users have reacted to it, if any has. */
  reactions?: MessageReactions;
};

/** How users have reacted to a message. */
export type MessageReactions = {
  /** How the user who lists has reacted. Absent in lists by API key. */
  own?: string[];
  /** How many users have reacted, by reaction. */
  total: Record<string, number>;
};

/** A participant has reacted to a message, or takes a reaction back. It counts nobody: lists have the counts. */
export type MessageReactionsUpdate = {
  /** The `_id` of the message. */
  mid: string;
  /** The conversation of the message. */
  cid: string;
  /** The user who reacted. */
  from: string;
  /** The reaction that was added, if one was. */
  add?: string;
  /** The reaction that was removed, if one was. */
  remove?: string;
};

/** An edit: from now on, the message `id` says this. `t` is in Unix seconds. */
export type MessageEdit<X = CustomParameters> = {
  /** The `_id` of the message. */
  id: string;

  /** The conversation of the message. */
  cid: string;

  /** The user who edited it. */
  from: string;

  /** The text from now on. */
  body: string;

  /** The custom parameters from now on. */
  x: X;

  /** When it was edited, in Unix seconds. */
  t: number;
};

/** A piece of text: the open message `id` goes on with it. `t` is in Unix seconds. */
export type MessageAppend = {
  /** The `_id` of the message. */
  id: string;

  /** The conversation of the message. */
  cid: string;

  /** The user who sent the message. */
  from: string;

  /** Where the piece begins, in Unicode code points of the text. What lies before the end of what is known is not new. */
  offset: number;

  /** The piece; it may be empty if `done` is `true`. */
  text: string;

  /** Whether the message is complete. */
  done: boolean;

  /** When it was appended, in Unix seconds. */
  t: number;
};

/**
 * A recall: these messages were taken back by `from`, and are gone for everyone; or `from`, the user who hears it, has hidden them from
 * the own lists. `t` is in Unix seconds.
 */
export type MessageDelete = {
  /** The `_id` of each message. */
  ids: string[];
  /** The conversation of the messages. */
  cid: string;
  /** The user who took them back, or hid them. */
  from: string;
  /** For whom they are gone: everyone, or `from`. */
  type: "all" | "myself";
  /** When, in Unix seconds. */
  t: number;
};

/** A recall: these system messages were taken back. `t` is in Unix seconds. */
export type SystemMessageDelete = {
  /** The `_id` of each system message. */
  ids: string[];
  /** The user who sent all of them. */
  from: string;
  /** When they were taken back, in Unix seconds. */
  t: number;
};

/**
 * A system message as it is delivered. `_id` is the sender's `messageSystem.id`. `cid` is present if it was sent to a
 * conversation. Only those that are kept in inboxes are replayed.
 */
export type SystemMessage<X = CustomParameters> = {
  /** The sender's `messageSystem.id`; two senders may use the same one. */
  _id: string;
  /** When it was sent, in Unix seconds. */
  t: number;
  /** The user who sent it. */
  from: string;
  /** Custom parameters, as they were sent. */
  x: X;
  /** The conversation that it was sent to, if it was sent to one. */
  cid?: string;
  /** When it was sent, in ISO 8601, if it is kept in inboxes. */
  created_at?: string;
  /** It replaces earlier ones of the same sender with this key. */
  key?: string;
  /** Present if it was sent silently. Do not alert the user. */
  silent?: true;
  /** When it ends, in ISO 8601, if it does. Do not show it from then on. */
  expires_at?: string;
};

/** A system message in a user's inbox, and what the user has done with it. */
export type InboxItem<X = CustomParameters> = SystemMessage<X> & {
  /** When it was sent, in ISO 8601. */
  created_at: string;
  /** When the user had seen it, in ISO 8601; `null` if the user has not. */
  seen_at: string | null;
  /** When the user had read it, in ISO 8601; `null` if the user has not. */
  read_at: string | null;
};

/** The user has seen or read system messages in the inbox, on whichever connection. Never replayed. `t` is in Unix seconds. */
export type SystemMessageRead = {
  /** The `_id` of each, newest first. */
  ids: string[];
  /** Whether they are seen only, and not read. */
  seen: boolean;
  /** When, in Unix seconds. */
  t: number;
};

/**
 * A participant has read messages of the user: `from` has read `ids`, which are the user's, and everything before them in `cid`.
 * Never replayed. `t` is in Unix seconds.
 */
export type MessageRead = {
  /** The `_id` of messages of this user that are read, with everything before them. */
  ids: string[];
  /** The conversation of the messages. */
  cid: string;
  /** The user who has read them. */
  from: string;
  /** When, in Unix seconds. */
  t: number;
};

/**
 * Another participant types, or has stopped. It ends with that participant's next message, or after 10 s unless it is repeated. Never
 * replayed. `t` is in Unix seconds.
 */
export type Typing = {
  /** The conversation. */
  cid: string;
  /** The user who types. */
  from: string;
  /** Whether the user has begun, or goes on, or has stopped. */
  status: "start" | "stop";
  /** When, in Unix seconds. */
  t: number;
};

/**
 * A conversation in the result of `listConversations`. `unread_messages_count` is the number of messages of others that the user
 * has not read; 100 means 100 or more.
 */
export type ConversationSummary = {
  /** The id of the conversation. */
  _id: string;

  /** The name; `null` if none is set. */
  name: string | null;

  /** The kind of conversation, as in SAMA. */
  type: string;

  /** When it was created, in ISO 8601. */
  created_at: string;

  /** When something last happened in it, in ISO 8601. */
  updated_at: string;

  /** How many messages of others the user has not read; 100 means 100 or more. */
  unread_messages_count: number;

  /** The newest message, if there is one. */
  last_message?: Message<unknown> | null;
};

/** The response to `connect`. `recovered` is present only if `since` was sent. */
export type ConnectAnswer = {
  /** The session has begun. */
  success: true;

  /** The organization of the user. */
  organization_id: string;

  /** The user. */
  user_id: string;

  /** The id of the connection, for the operator. */
  connection_id: string;

  /** When the token expires, in ISO 8601. */
  expires_at: string;

  /** Whether everything after `since` was replayed. Absent if no `since` was sent. */
  recovered?: boolean;
};

/** The error of a request sent over the WebSocket. */
export type ResponseError = {
  /** The status that the same error has over HTTP. */
  status: number;
  /** What went wrong, for programs. */
  code: ErrorCode;
  /** What went wrong, for people. */
  message: string;
};
