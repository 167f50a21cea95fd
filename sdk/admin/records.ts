import type { CustomParameters, MessageEnvelope } from "../types.ts";

/** A line of an import. A `message` is history: it is stored, and delivered to nobody. */
export type ImportRecord =
  | { user: { id: string; name?: string | null; blocked?: boolean } }
  | { conversation: { id: string; name?: string | null; participants?: string[] } }
  | { participant: { cid: string; uid: string } }
  | {
      message: Omit<MessageEnvelope["message"], "id"> & {
        /** Identifies the message in the organization: the same again changes nothing. */
        id: string;
        /** The author, who need not take part any more, or be a user. */
        senderId: string;
        /** ISO 8601. */
        created_at: string;
      };
    };

/** A line of an export, which an import takes. The participants of a conversation beyond those in its line come in lines of their own. */
export type ExportRecord =
  | { user: { id: string; name: string | null; blocked?: true } }
  | { conversation: { id: string; name: string | null; participants: string[] } }
  | { participant: { cid: string; uid: string } }
  | {
      message: {
        id: string;
        cid: string;
        senderId: string;
        body: string;
        x: CustomParameters;
        attachments?: { name: string; file_id: string }[];
        created_at: string;
      };
    };
