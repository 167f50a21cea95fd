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
  /** The ids of all rows that may tell about deliveries of an event, or about who was away then. */
  deliveryIds(org: string, cid: string | undefined, offset: number, kind?: "delivery" | "away"): Promise<string[]>;
  /** What these rows tell about the event. */
  deliveries(org: string, ids: string[], offset: number): Promise<StoredDelivery[]>;
  /**
   * When each of these users acknowledged the event, in milliseconds since the Unix epoch, if at all. Receipts stored
   * before version 0012 count once retention has split them.
   */
  acknowledgedAt(event: { org: string; id: string }, uids: string[]): Promise<Map<string, number>>;
};

/** Finds what was addressed to a user: messages and system messages, in the log's order. */
export type NewestEvents = {
  /**
   * At most `limit` offsets before another, newest first. `next`: before which to go on; `undefined` if nothing is left. What it
   * reads is bounded, so there may be fewer than `limit` although more are left.
   */
  newestFor(
    org: string,
    uid: string,
    page: { before: number | undefined; limit: number },
  ): Promise<{ offsets: number[]; next: number | undefined }>;
};

/** An event that was addressed to a user. `id` is what its report is read by, `eventId` that of the event. */
export type AddressedEvent = {
  kind: "message" | "system_message";
  offset: number;
  eventId: string;
  id: string;
  cid: string | undefined;
  sender: string;
  /** In milliseconds since the Unix epoch. */
  createdAt: number;
  /** Where the inbox of the user has it, if it is a system message that is kept. */
  place: string;
};

/** Reads what a user has of what was addressed to the user: times by offset, in milliseconds since the Unix epoch. */
export type UserDeliveryReads = {
  /** The events at these offsets, newest first. */
  addressedAt(org: string, uid: string, offsets: readonly number[]): Promise<AddressedEvent[]>;
  /** When each was first delivered to the user, if at all. */
  deliveredAt(org: string, uid: string, events: readonly AddressedEvent[]): Promise<Map<number, number>>;
  /** When the user acknowledged each, if at all; as `RecipientReads.acknowledgedAt`. */
  acknowledgedAt(org: string, uid: string, events: readonly AddressedEvent[]): Promise<Map<number, number>>;
  /**
   * Of a system message in the inbox, when the user read it. Of a message that the user's read mark covers, when the mark was last
   * moved: the user had read it by then. Nothing of a message if a version without that time moved the mark.
   */
  readAt(org: string, uid: string, events: readonly AddressedEvent[]): Promise<Map<number, number>>;
};

/** Writes to whom system messages were addressed that name users, or that went to everyone, so that they are found by user. */
export type AddresseeWrites = {
  /** Writes a part of what is behind in an organization, in the log's order. False if nothing was. */
  addSome(org: string): Promise<boolean>;
};

/** Reads where addressees are behind. */
export type AddresseeReads = {
  /** At most `limit` organizations after an id in which something is behind. Looks at all organizations. */
  behind(after: string, limit: number): Promise<string[]>;
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
  /** As in `StoredMessage`. */
  reactions: optional(text("reactions")),
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
