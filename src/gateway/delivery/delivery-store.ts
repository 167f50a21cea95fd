/** An event, and when it was first and last played, in milliseconds since the Unix epoch. */
export type Play = [offset: number, first: number, last: number];

/**
 * Events of one conversation (system messages to users or to everyone if `cid` is absent) played to the same users over the same number of
 * connections; the users are an audience's or listed.
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
  /** In order of offsets. */
  plays: Play[];
};

/**
 * The users who hear a conversation, or without `cid` an organization: those of `parent`, with the changes since.
 * `offset` is the first event they heard.
 */
export type AudienceToStore = {
  id: string;
  org: string;
  cid: string | undefined;
  offset: number;
  parent: string | undefined;
  added: string[];
  removed: string[];
};

/** Where the ledger stores what it recorded. */
export type DeliveryStore = {
  readonly bounds: {
    /** Every play of a delivery is within this many offsets of the first. */
    spanOffsets: number;
    /** How long after its creation deliveries may refer to an audience, in milliseconds. */
    audienceLivesMs: number;
  };
  /**
   * Audiences precede their children and the deliveries that refer to them. Existing rows are kept. Rejects with a
   * `HeraldError` if the same batch may be stored later.
   */
  record(batch: { audiences: AudienceToStore[]; deliveries: DeliveryToStore[] }): Promise<void>;
};
