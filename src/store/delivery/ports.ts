import type { DeliveryBounds, NewAudience, NewDelivery } from "../../contract/log/deliveries.ts";
import { createMapping, json, type Mapped, nullable, number, optional, text } from "../sql/mapping.ts";

/** A user's claim to have received a message or system message, by its `_id`. */
export type NewReceipt = { org: string; uid: string; id: string; at: number };

/** Deliveries and receipts. */
export type Deliveries = DeliveryReads & DeliveryWrites & { readonly bounds: DeliveryBounds };

/** Reads deliveries and receipts. */
export type DeliveryReads = {
  /** Everything known about one event. `cid` is the event's: `undefined` for a system message to users or to everyone. */
  of(org: string, cid: string | undefined, offset: number): Promise<StoredDelivery[]>;
};

/** Users that an event was delivered to or acknowledged by, and when, in milliseconds since the Unix epoch. */
export type StoredDelivery = Pick<NewDelivery, "kind" | "connections"> & {
  uids: readonly string[];
  first: number;
  last: number;
};

/** Reads who a stored message was addressed to, and who has it, a part at a time. */
export type RecipientReads = {
  /** Who has taken part in a conversation, by user and time: at most `limit` stays after a place. */
  stays(org: string, cid: string, after: StayPlace | undefined, limit: number): Promise<Stay[]>;
  /** The ids of all rows that may tell about deliveries of an event. */
  deliveryIds(org: string, cid: string | undefined, offset: number): Promise<string[]>;
  /** What these rows tell about the event. */
  deliveries(org: string, ids: string[], offset: number): Promise<StoredDelivery[]>;
  /**
   * When each of these users acknowledged the event, in milliseconds since the Unix epoch, if at all. Receipts stored
   * before version 0012 count once retention has split them.
   */
  acknowledgedAt(event: { org: string; id: string }, uids: string[]): Promise<Map<string, number>>;
};

/** The columns of stays. */
export const stays = createMapping({
  uid: text("uid"),
  after: number("log_start"),
  upTo: optional(number("log_end")),
});

/**
 * A user's time in a conversation, without interruption: the messages after the offset `after` were addressed to the
 * user, up to `upTo` if the user has left.
 */
export type Stay = Mapped<typeof stays>;

/** Where a stay lies among those of its conversation. */
export type StayPlace = Pick<Stay, "uid" | "after">;

/** Writes deliveries and receipts. Writing the same row again changes nothing. */
export type DeliveryWrites = {
  /**
   * Stores audiences, which must precede their children, and then the deliveries that refer to them. Rejects with
   * `storage_full` or `unavailable`.
   */
  record(batch: { audiences: NewAudience[]; deliveries: NewDelivery[] }): Promise<void>;
  /** Stores the receipts of users who are recipients of the message, and skips the others. */
  acknowledge(receipts: NewReceipt[]): Promise<void>;
};

const ofSent = {
  id: text("id"),
  offset: number("offset"),
  cid: optional(text("cid")),
  payload: text("payload"),
  uids: optional(json<string[]>("uids")),
  keyId: nullable(text("key_id")),
  recipients: optional(number("recipients")),
  sender: text("sender"),
  createdAt: number("created_at"),
  recalledAt: optional(number("recalled_at")),
  expiredAt: optional(number("expired_at")),
};

/** The columns of a stored system message. */
export const sentEvents = createMapping(ofSent);

/** The columns of a stored message of a conversation. */
export const sentMessages = createMapping({
  ...ofSent,
  cid: text("cid"),
  editedAt: optional(number("edited_at")),
});

/**
 * A stored message or system message. Times in milliseconds since the Unix epoch. The payload is empty if it was taken back, and soon
 * after it has expired. `recipients` is how many users it was addressed to; `undefined` if to everyone, who are not counted at the send.
 */
export type SentEvent = Mapped<typeof sentEvents>;

/** A stored message of a conversation. */
export type SentMessage = Mapped<typeof sentMessages>;

/** Reads sent messages for their delivery reports. */
export type SentReads = {
  message(org: string, id: string): Promise<SentMessage | undefined>;
  /** The system messages with that id, of one sender or, at most two, of any sender. */
  systemMessages(org: string, mid: string, sender: string | undefined): Promise<SentEvent[]>;
  /** The `_id` of the newest later system message of its sender with this key, in one of its inboxes. */
  successorOf(org: string, event: SentEvent, key: string): Promise<string | undefined>;
  /** Those of `uids` who were users of the organization when the event at `offset` was stored. */
  usersAt(org: string, uids: string[], offset: number): Promise<Set<string>>;
  /** The number of users of the organization when the event at `offset` was stored. Reads them all. */
  countUsersAt(org: string, offset: number): Promise<number>;
  /** Those of `uids` that are not current users of the organization, in the given order. */
  strangersAmong(org: string, uids: string[]): Promise<string[]>;
};
