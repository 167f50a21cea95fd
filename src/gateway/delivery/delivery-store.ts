/** An event, and when it went out first and last (milliseconds). */
export type Play = [offset: number, first: number, last: number];

/**
 * Events of one conversation (without `cid`: system messages) that went to the same users, over as many connections: those of an
 * audience, or else `uids`.
 */
export type DeliveryToStore = {
  /** UUIDv7 of the time of the first event. */
  id: string;
  org: string;
  cid: string | undefined;
  kind: "delivery";
  connections: number;
  audience: string | undefined;
  uids: string[] | undefined;
  /** In the order of offsets. */
  plays: Play[];
};

/** Users who hear a conversation: those of `parent`, with what changed since. `offset`: the first event that they heard. */
export type AudienceToStore = {
  id: string;
  org: string;
  cid: string;
  offset: number;
  parent: string | undefined;
  added: string[];
  removed: string[];
};

/** Where the ledger keeps what it has written down. */
export type DeliveryStore = {
  readonly bounds: {
    /** No play of a delivery lies so many offsets behind its first. */
    spanOffsets: number;
    /** For how long after it was made an audience may be named by deliveries, in milliseconds. */
    audienceLivesMs: number;
  };
  /**
   * Audiences come before their children and before the deliveries that name them. What is there already stays. Rejects with a
   * `HeraldError` when the same may be stored later.
   */
  record(batch: { audiences: AudienceToStore[]; deliveries: DeliveryToStore[] }): Promise<void>;
};
