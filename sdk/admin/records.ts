import type { CustomParameters, MessageEnvelope } from "../types.ts";
import type {
  ExportSystemMessageRecord,
  ImportSystemMessageRecord,
  InboxRangeRecord,
  SystemMessageReadRecord,
} from "./inbox-records.ts";

/** A line of an import. A `message` or `system_message` is of the past: it is stored, and delivered to nobody. */
export type ImportRecord =
  | {
      /** A user. */
      user: {
        /** The id. */
        id: string;
        /** The name; `null` if none is set. */
        name?: string | null;
        /** Whether all of the user's tokens are refused. */
        blocked?: boolean;
      };
    }
  | {
      /** A conversation. */
      conversation: {
        /** The id. */
        id: string;
        /** The name; `null` if none is set. */
        name?: string | null;
        /** Who takes part: the ids of users. */
        participants?: string[];
      };
    }
  | {
      /** Who takes part in which conversation. */
      participant: {
        /** The conversation. */
        cid: string;
        /** The user. */
        uid: string;
      };
    }
  | {
      /** A message of the past. */
      message: Omit<MessageEnvelope["message"], "id"> & {
        /** Identifies the message in the organization: the same again changes nothing. */
        id: string;
        /** The author, who need not take part any more, or be a user. */
        senderId: string;
        /** ISO 8601. */
        created_at: string;
      };
    }
  | ReactionRecord
  | ImportSystemMessageRecord
  | SystemMessageReadRecord
  | InboxRangeRecord;

/** A line about a reaction to a message. */
export type ReactionRecord = {
  /** A reaction. */
  reaction: {
    /** The `id` of the message. */
    mid: string;
    /** Who reacted. */
    senderId: string;
    /** The reaction. */
    reaction: string;
  };
};

/** A line of an export, which an import takes. The participants of a conversation beyond those in its line come in lines of their own. */
export type ExportRecord =
  | {
      /** A user. */
      user: {
        /** The id. */
        id: string;
        /** The name; `null` if none is set. */
        name: string | null;
        /** Present if all of the user's tokens are refused. */
        blocked?: true;
      };
    }
  | {
      /** A conversation. */
      conversation: {
        /** The id. */
        id: string;
        /** The name; `null` if none is set. */
        name: string | null;
        /** Who takes part: the ids of users. */
        participants: string[];
      };
    }
  | {
      /** Who takes part in which conversation. */
      participant: {
        /** The conversation. */
        cid: string;
        /** The user. */
        uid: string;
      };
    }
  | {
      /** A message. */
      message: {
        /** The id. */
        id: string;

        /** The conversation. */
        cid: string;

        /** The author. */
        senderId: string;

        /** The text. */
        body: string;

        /** Custom parameters. */
        x: CustomParameters;

        /** The attachments. */
        attachments?: {
          /** The name of the file. */
          name: string;
          /** The id of the file. */
          file_id: string;
        }[];

        /** When it was created, in ISO 8601. */
        created_at: string;

        /** Present if it was sent silently. */
        silent?: true;

        /** When it ends, in ISO 8601, if it does. */
        expires_at?: string;

        /** The message that it replies to, if it does. */
        replied_message_id?: string;

        /** The message that it forwards, if it does. */
        forwarded_message_id?: string;
      };
    }
  | ReactionRecord
  | ExportSystemMessageRecord
  | SystemMessageReadRecord
  | InboxRangeRecord;
