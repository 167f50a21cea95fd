/**
 * Events of one conversation (without `cid`: system messages) that went to the same users on one node, over as many
 * connections; the users are an audience's, or listed. Or the receipt of one event by one user (`connections` is 1); 0: several of
 * both together, as versions before 0012 wrote them.
 */
export type NewDelivery = {
  /** UUIDv7 of the time of the first event, so that it goes when that goes. */
  id: string;
  org: string;
  cid: string | undefined;
  kind: "delivery" | "receipt";
  connections: number;
  audience: string | undefined;
  uids: string[] | undefined;
  /** In the order of offsets, none as far from the first as `DeliveryBounds` says. */
  plays: Play[];
};

/** An event, and when it went out first and last (milliseconds). */
export type Play = [offset: number, first: number, last: number];

/** Users who hear a conversation on one node: those of `parent`, with what changed since. `offset`: the first event that they heard. */
export type NewAudience = {
  id: string;
  org: string;
  cid: string;
  offset: number;
  parent: string | undefined;
  added: string[];
  removed: string[];
};

/** What a user says to have received: the `_id` of a message or of a system message. */
export type NewReceipt = { org: string; uid: string; id: string; at: number };

/** Who got what. */
export type Deliveries = DeliveryReads & DeliveryWrites & { readonly bounds: DeliveryBounds };

/** What whoever writes deliveries must keep to. */
export type DeliveryBounds = {
  /** No play of a delivery lies so many offsets behind its first. */
  spanOffsets: number;
  /** For how long after it was made an audience may be named by deliveries, in milliseconds. */
  audienceLivesMs: number;
};

/** Reads who got what. */
export type DeliveryReads = {
  /** All that is known of one event. `cid` is `undefined` for a system message. */
  of(org: string, cid: string | undefined, offset: number): Promise<StoredDelivery[]>;
};

/** Users that an event went to, and when (milliseconds). */
export type StoredDelivery = Pick<NewDelivery, "kind" | "connections"> & {
  uids: string[];
  first: number;
  last: number;
};

/** Writes who got what. It may be written twice: what is there already stays. */
export type DeliveryWrites = {
  /** Audiences come before their children and before the deliveries that name them. Rejects with `storage_full` or `unavailable`. */
  record(batch: { audiences: NewAudience[]; deliveries: NewDelivery[] }): Promise<void>;
  /** Keeps the receipts of messages whose recipient the user is; others are passed over. */
  acknowledge(receipts: NewReceipt[]): Promise<void>;
};

/** A message or system message as it was stored. `recipients`: how many it was addressed to. */
export type SentEvent = {
  offset: number;
  cid: string | undefined;
  payload: string;
  uids: string[] | undefined;
  keyId: string | null;
  recipients: number;
};

/** Reads what was sent, for who asks what became of it. */
export type SentReads = {
  message(org: string, id: string): Promise<SentEvent | undefined>;
  /** The system messages of that id, of one sender or of any; two at most. */
  systemMessages(org: string, mid: string, sender: string | undefined): Promise<SentEvent[]>;
  /** Those of `uids` that were users of the organization when the event at `offset` was stored; without it, that are now. */
  usersAt(org: string, uids: string[], offset?: number): Promise<Set<string>>;
};
