import type { ErrorCode } from "../error-codes.ts";
import type { CustomParameters } from "./events.ts";

/** An attachment as the caller describes it. `size` is in bytes; `file_id` refers to a file that was already uploaded. */
export type AttachmentInput = {
  /** The name of the file. */
  name: string;
  /** Its size in bytes. */
  size?: number;
  /** Its media type. */
  content_type?: string;
  /** The file, if it is uploaded already. */
  file_id?: string;
};

/** The body of `POST /admin/message`. */
export type MessageEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The user who sends it, and takes part in the conversation. */
  senderId: string;

  /** What is sent. */
  message: {
    /** Identifies the send: the same again sends nothing twice. Without it, the SDK makes one. */
    id?: string;
    /** The conversation. */
    cid: string;
    /** The text; may be left out if there are attachments. */
    body?: string;
    /** Custom parameters, which recipients get unchanged. */
    x?: CustomParameters;
    /** At most 20 attachments. */
    attachments?: AttachmentInput[];
    /** Sends it silently: it counts as unread nowhere, and no webhook tells of it. */
    silent?: true;
    /** Sends a message that is not complete: `append`, or `stream`, adds to its text. Ten minutes without a piece complete it. */
    open?: true;
    /** When it ends, in ISO 8601, at most a year ahead: from then on nobody receives or sees it, and its content is removed. */
    expires_at?: string;
    /** The `server_mid` of the message that it replies to, in a conversation in which the sender takes part. */
    replied_message_id?: string;
    /** The `server_mid` of the message that it forwards, from a conversation in which the sender takes part. */
    forwarded_message_id?: string;
  };
};

/**
 * Whom a system message goes to: listed users, everyone who takes part in a conversation, as the sender must, or all
 * users of the organization.
 */
export type SystemMessageAddress =
  | {
      /** The users, 1 to 10,000. */
      uids: string[];
      /** The conversation whose participants it goes to. */
      cid?: never;
      /** All users of the organization. */
      everyone?: never;
    }
  | {
      /** The conversation whose participants it goes to. */
      cid: string;
      /** The users, 1 to 10,000. */
      uids?: never;
      /** All users of the organization. */
      everyone?: never;
    }
  | {
      /** All users of the organization. */
      everyone: true;
      /** The users, 1 to 10,000. */
      uids?: never;
      /** The conversation whose participants it goes to. */
      cid?: never;
    };

/** The body of `POST /admin/message/system`. */
export type SystemMessageEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The user who sends it. */
  senderId: string;

  /** What is sent, and to whom. */
  messageSystem: {
    /** Identifies the send: the same again sends nothing twice. Without it, the SDK makes one. */
    id?: string;
    /** Custom parameters, which recipients get unchanged. */
    x?: CustomParameters;
    /** Keeps it in the inboxes of those it goes to, for 1 to 365 days. Without it, users who are offline never receive it. */
    keep_days?: number;
    /** With `keep_days`: an inbox has the newest of the sender's system messages with this key only. */
    key?: string;
    /** Sends it silently: it counts as unread nowhere, and no webhook tells of it. */
    silent?: true;
    /** When it ends, in ISO 8601, at most a year ahead: from then on nobody receives or sees it, and its content is removed. */
    expires_at?: string;
  } & SystemMessageAddress;
};

/** The body of `PUT /admin/message`. Without `x`, the custom parameters of the message stay. */
export type MessageEditEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The user who sent the message. */
  senderId: string;

  /** The message, and what it says from now on. */
  messageEdit: {
    /** The `server_mid` of the message. */
    id: string;
    /** The new text. */
    body: string;
    /** The new custom parameters; without them, the old ones stay. */
    x?: CustomParameters;
  };
};

/** The body of `PUT /admin/message/append`: a piece of text for an open message. */
export type MessageAppendEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The user who sent the message. */
  senderId: string;

  /** The message, and what it says besides. */
  messageAppend: {
    /** The `server_mid` of the message. */
    id: string;
    /** How long the text is so far, in Unicode code points: the `length` of the last answer. */
    offset: number;
    /** The text to append. It may be empty with `done`. */
    text: string;
    /** Completes the message. */
    done?: boolean;
  };
};

/** The response to an append. */
export type MessageAppendAnswer = {
  /** It is stored. */
  success: true;
  /** How long the text is now, in Unicode code points: the `offset` of the next piece. */
  length: number;
};

/** The body of `DELETE /admin/message`: 1 to 100 messages of one conversation. */
export type MessageDeleteEnvelope = {
  /** The organization. */
  organizationId: string;

  /** A participant of the conversation. */
  senderId: string;

  /** The messages to take back, or to hide. */
  messageDelete: {
    /** Their conversation. */
    cid: string;
    /** The `server_mid` of each, 1 to 100. */
    ids: string[];
    /** Whether to take them back for everyone, or to hide them from the lists of `senderId`. */
    type: "all" | "myself";
  };
};

/** The body of `PUT /admin/message/typing`. */
export type TypingEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The participant who types. */
  senderId: string;

  /** The conversation, and whether the user has begun to type or has stopped. */
  typing: {
    /** The conversation. */
    cid: string;
    /** Whether the user has begun, or has stopped. */
    status: "start" | "stop";
  };
};

/** The body of `PUT /admin/message/reaction`. It needs `add`, `remove` or both, which must differ. */
export type MessageReactionEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The participant who reacts. */
  senderId: string;

  /** The message, and what changes. */
  messageReaction: {
    /** The `server_mid` of the message. */
    mid: string;
    /** The reaction to add: an emoji, or another text of at most 10 characters. */
    add?: string;
    /** The reaction to remove. */
    remove?: string;
  };
};

/** The response to an edit, a reaction or a recall. */
export type ChangeAnswer = {
  /** It is stored. */
  success: true;
};

/** The body of `PUT /admin/message/read`. Without `ids`, the conversation is read up to its end. */
export type ReadEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The participant who has read it. */
  senderId: string;

  /** What was read. */
  messageRead: {
    /** The conversation. */
    cid: string;
    /** The `server_mid` of messages; the newest counts. Without them, the conversation is read to its end. */
    ids?: string[];
  };
};

/** The response to `POST /admin/message` (spelled `ask` on the wire). `t` is in Unix seconds. */
export type MessageAnswer = {
  /** What became of the send. */
  ask: {
    /** The `message.id` of the send. */
    mid: string;
    /** The id that the server gave the message. */
    server_mid: string;
    /** When it was sent, in Unix seconds. */
    t: number;
  };
};

/** The response to `POST /admin/message/system`. `t` is in Unix seconds. */
export type SystemMessageAnswer = {
  /** What became of the send. */
  ack: {
    /** The `messageSystem.id` of the send. */
    mid: string;
    /** When it was sent, in Unix seconds. */
    t: number;
  };
};

/** What became of a send while its caller waited, in users: addressed, connected, written to, and acknowledged by their clients. */
export type DeliveryCounts = {
  /** The users that it is addressed to. */
  recipients: number;
  /** Those who were connected. */
  online: number;
  /** Those to whom it was written. */
  delivered: number;
  /** Those whose clients acknowledged it. */
  acknowledged: number;
};

/** Present if the send waited for its delivery, and the server did as well. */
export type Waited = {
  /** Who had it when the wait ended. */
  delivery?: DeliveryCounts;
};

/** Whom a send or a read would reach. `unknown_users` are the `uids` of a system message that are not users of the organization. */
export type DryRunAnswer = {
  /** Whom it would reach. */
  dry_run: {
    /** How many users it would be addressed to. */
    recipients: number;
    /** How many of them are connected now. */
    online: number;
    /** Those of the `uids` who are no users of the organization. */
    unknown_users: string[];
  };
};

/** What to send later, and when: ISO 8601, at most a year ahead; a time in the past means now. */
export type ScheduleOrder = {
  /** When to send it, in ISO 8601, at most a year ahead; a time in the past means now. */
  send_at: string;
  /** What to send. */
  request: MessageEnvelope | SystemMessageEnvelope;
};

/** What became of a scheduled send. */
export type ScheduledState = "waiting" | "sent" | "failed" | "cancelled";

/**
 * A send that is scheduled for a time, or was. `request` is what waits, and `null` once it no longer does. `server_mid` is the id of
 * what was sent, and `problem` the reason why it could not be.
 */
export type ScheduledSend = {
  /** The id that it was scheduled with. */
  id: string;

  /** When it is sent, in ISO 8601. */
  send_at: string;

  /** What became of it. */
  state: ScheduledState;

  /** What waits; `null` once it no longer does. */
  request: MessageEnvelope | SystemMessageEnvelope | null;

  /** When it was scheduled, in ISO 8601. */
  created_at: string;

  /** When it was sent, in ISO 8601; `null` if it was not. */
  sent_at: string | null;

  /** The id of what was sent; `null` if nothing was. */
  server_mid: string | null;

  /** Why it could not be sent; `null` if nothing was wrong. */
  problem: {
    /** The HTTP status. */
    status: number;
    /** What went wrong, for programs. */
    code: ErrorCode;
    /** What the code means, always in the same words. */
    title: string;
    /** What went wrong, for people. */
    detail: string;
  } | null;
};

/** The body of `DELETE /admin/message/system`: 1 to 100 system messages of one sender. */
export type SystemMessageDeleteEnvelope = {
  /** The organization. */
  organizationId: string;

  /** The user who sent them. */
  senderId: string;

  /** The system messages to take back. */
  messageSystemDelete: {
    /** The `ack.mid` of each, 1 to 100. */
    ids: string[];
  };
};
