import type { CustomParameters, SystemMessageAddress } from "../types.ts";

/** What identifies a system message that inboxes keep. */
export type SystemMessageReference = {
  /** The sender. */
  senderId: string;
  /** The id, which recipients see as `_id`. */
  id: string;
  /** When it was sent, in ISO 8601. */
  created_at: string;
};

/** A line about a system message that inboxes keep. */
export type ImportSystemMessageRecord = {
  /** It is in the inboxes of those whom it goes to: users who exist, or all who take part or are users when the line is read. */
  system_message: SystemMessageReference & {
    /** Custom parameters. */
    x?: CustomParameters;
    /** Until when inboxes keep it, in ISO 8601, at most 365 days after it was sent. */
    kept_until: string;
    /** An inbox has the last line of the sender with this key only. */
    key?: string;
    /** It counts as unread nowhere. */
    silent?: true;
    /** When it ends, in ISO 8601. */
    expires_at?: string;
  } & SystemMessageAddress;
};

/** A line about a system message that inboxes keep, in an export. */
export type ExportSystemMessageRecord = {
  /** As it is kept. */
  system_message: SystemMessageReference & {
    /** Custom parameters. */
    x: CustomParameters;
    /** Until when inboxes keep it, in ISO 8601. As `created_at` for one that is over. */
    kept_until: string;
    /** The key, if it was sent with one. */
    key?: string;
    /** Present if it was sent silently. */
    silent?: true;
    /** When it ends, in ISO 8601, if it does. */
    expires_at?: string;
  } & SystemMessageAddress;
};

/** A line about what a user has done with a system message, in imports and exports. */
export type SystemMessageReadRecord = {
  /** Who has seen and read which one. */
  system_message_read: SystemMessageReference & {
    /** The user. */
    uid: string;
    /** When the user had seen it, in ISO 8601. */
    seen_at: string;
    /** When the user had read it, in ISO 8601; `null` if the user has not. */
    read_at: string | null;
  };
};

/** A line about which system messages to everyone, or to a conversation, an inbox has, in imports and exports. */
export type InboxRangeRecord = {
  /** Those after one and up to another. */
  inbox_range: {
    /** The user. */
    uid: string;
    /** The conversation; without it, this is about those to everyone. */
    cid?: string;
    /** The last one before the user came, if there was one. */
    after?: SystemMessageReference;
    /** The last one before the user left, if the user did. */
    up_to?: SystemMessageReference;
  };
};
