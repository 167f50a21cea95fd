import type { ListedMessage, SystemMessage } from "./events.ts";

/**
 * The delivery of a message on all nodes, about a second old. *Delivered* means written to an open connection; only an
 * acknowledgement proves that a client received it. Times are ISO 8601, or `null` before the first delivery.
 */
export type Delivery = {
  /** How many users it is addressed to. */
  recipients: number;

  /** To how many of them it was written. */
  delivered_users: number;

  /** To how many connections it was written. */
  delivered_connections: number;

  /** How many users acknowledged it. */
  acknowledged_users: number;

  /** When it was first written to a connection, in ISO 8601; `null` if never. */
  first_delivered_at: string | null;

  /** When it was last written to a connection, in ISO 8601; `null` if never. */
  last_delivered_at: string | null;
};

/**
 * A message, the API key that sent it, and its delivery. A message that was taken back has `recalled_at`, one that has
 * expired `expired_at`, and neither has a text any more.
 * `acknowledged_before_edit` and `acknowledged_before_recall` say how many acknowledged it before the last edit, and the recall.
 */
export type MessageReport = {
  /** The message, without its text once it was taken back. */
  message: Omit<ListedMessage, "body" | "x" | "attachments"> & Partial<ListedMessage>;

  /** When it was taken back, in ISO 8601, if it was. */
  recalled_at?: string;

  /** When it expired, in ISO 8601, if it has. */
  expired_at?: string;

  /** The API key that sent it; `null` for the bootstrap key. */
  key_id: string | null;

  /** Who has it. */
  delivery: Delivery & {
    /** How many users acknowledged it before the last edit. */
    acknowledged_before_edit?: number;
    /** How many users acknowledged it before it was taken back. */
    acknowledged_before_recall?: number;
  };
};

/**
 * A system message, the API key that sent it, and its delivery, in `by_user` to each of the `uids` if it was sent to
 * listed users.
 */
export type SystemMessageReport = {
  /** The system message, without its custom parameters once it was taken back. */
  system_message: Omit<SystemMessage, "x"> & Partial<SystemMessage>;

  /** When it was taken back, in ISO 8601, if it was. */
  recalled_at?: string;

  /** When it expired, in ISO 8601, if it has. */
  expired_at?: string;

  /** The id of the newest later system message of the sender with the same key that some recipients have instead, if any. */
  superseded_by?: string;

  /** The API key that sent it; `null` for the bootstrap key. */
  key_id: string | null;

  /** Who has it. */
  delivery: Delivery & {
    /** What became of it for each of the `uids`; `unknown` is no user of the organization. */
    by_user?: { [uid: string]: "delivered" | "offline" | "unknown" };
    /** How many users acknowledged it before it was taken back. */
    acknowledged_before_recall?: number;
  };
};

/** Whether a recipient has a message: written to a connection, acknowledged by a client, or neither. */
export type RecipientState = "delivered" | "acknowledged" | "missing";

/** A user that a message was addressed to. Times are `null` if nothing is known. */
export type Recipient = {
  /** The user. */
  uid: string;

  /** Whether the user has it. */
  state: RecipientState;

  /** When it was written to a connection of the user, in ISO 8601. */
  delivered_at: string | null;

  /** When a client of the user acknowledged it, in ISO 8601. */
  acknowledged_at: string | null;
};

/** A message or system message that was addressed to a user, and what the user has of it. Times are `null` if nothing is known. */
export type DeliveryItem = Omit<Recipient, "uid"> & {
  /** What it is. */
  kind: "message" | "system_message";

  /** The `server_mid` of a message, or the `mid` of a system message. */
  id: string;

  /** The conversation; `null` for a system message to users or to everyone. */
  cid: string | null;

  /** The sender. */
  from: string;

  /** When it was sent, in Unix epoch seconds. */
  t: number;

  /** When the user had read it, in ISO 8601. Of a message: it was read by then. */
  read_at: string | null;
};
