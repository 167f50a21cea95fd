/**
 * Events of one conversation (system messages to users or to everyone if `cid` is absent) played on one node to the same users over the same
 * number of connections; the users are an audience's or listed. Or one user's receipt of one event (`connections` is
 * 1). Versions before 0012 combined several users and events in one receipt row (`connections` is 0).
 */
export type NewDelivery = {
  /** UUIDv7 of the time of the first event, so that it expires together with that event. */
  id: string;
  org: string;
  cid: string | undefined;
  kind: "delivery" | "receipt";
  connections: number;
  audience: string | undefined;
  uids: string[] | undefined;
  /** In order of offsets, all within `DeliveryBounds.spanOffsets` of the first. */
  plays: Play[];
};

/** An event, and when it was first and last played, in milliseconds since the Unix epoch. */
export type Play = [offset: number, first: number, last: number];

/**
 * The users who hear a conversation, or without `cid` an organization, on one node: those of `parent`, with the changes
 * since. `offset` is the first event they heard.
 */
export type NewAudience = {
  id: string;
  org: string;
  cid: string | undefined;
  offset: number;
  parent: string | undefined;
  added: string[];
  removed: string[];
};

/** A user's claim to have received a message or system message, by its `_id`. */
export type NewReceipt = { org: string; uid: string; id: string; at: number };

/** Deliveries and receipts. */
export type Deliveries = DeliveryReads & DeliveryWrites & { readonly bounds: DeliveryBounds };

/** The bounds that writers of deliveries must respect. */
export type DeliveryBounds = {
  /** Every play of a delivery is within this many offsets of the first. */
  spanOffsets: number;
  /** How long after its creation deliveries may refer to an audience, in milliseconds. */
  audienceLivesMs: number;
};

/** Reads deliveries and receipts. */
export type DeliveryReads = {
  /** Everything known about one event. `cid` is the event's: `undefined` for a system message to users or to everyone. */
  of(org: string, cid: string | undefined, offset: number): Promise<StoredDelivery[]>;
};

/** Users that an event was delivered to or acknowledged by, and when, in milliseconds since the Unix epoch. */
export type StoredDelivery = Pick<NewDelivery, "kind" | "connections"> & {
  uids: string[];
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

/**
 * A user's time in a conversation, without interruption: the messages after the offset `after` were addressed to the
 * user, up to `upTo` if the user has left.
 */
export type Stay = StayPlace & { upTo: number | undefined };

/** Where a stay lies among those of its conversation. */
export type StayPlace = { uid: string; after: number };

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

/**
 * A stored message or system message. `recipients` is how many users it was addressed to; `undefined` if to everyone, who
 * are not counted at the send.
 */
export type SentEvent = {
  id: string;
  offset: number;
  cid: string | undefined;
  payload: string;
  uids: string[] | undefined;
  keyId: string | null;
  recipients: number | undefined;
};

/**
 * A stored message of a conversation. Times in milliseconds since the Unix epoch. The payload of one that was taken back is
 * empty.
 */
export type SentMessage = SentEvent & {
  cid: string;
  sender: string;
  createdAt: number;
  editedAt: number | undefined;
  recalledAt: number | undefined;
};

/** Reads sent messages for their delivery reports. */
export type SentReads = {
  message(org: string, id: string): Promise<SentMessage | undefined>;
  /** The system messages with that id, of one sender or, at most two, of any sender. */
  systemMessages(org: string, mid: string, sender: string | undefined): Promise<SentEvent[]>;
  /** Those of `uids` who were users of the organization when the event at `offset` was stored. */
  usersAt(org: string, uids: string[], offset: number): Promise<Set<string>>;
  /** The number of users of the organization when the event at `offset` was stored. Reads them all. */
  countUsersAt(org: string, offset: number): Promise<number>;
  /** Those of `uids` that are not current users of the organization, in the given order. */
  strangersAmong(org: string, uids: string[]): Promise<string[]>;
};
