/**
 * Events of one conversation (system messages to users or to everyone if `cid` is absent) played on one node to the same users over the same
 * number of connections; the users are an audience's or listed. Or (`away`) those of them whose clients were all in the background on that node. Or one user's receipt of one event (`connections` is
 * 1). Versions before 0012 combined several users and events in one receipt row (`connections` is 0).
 */
export type NewDelivery = {
  /** UUIDv7 of the time of the first event, so that it expires together with that event. */
  id: string;
  org: string;
  cid: string | undefined;
  kind: "delivery" | "away" | "receipt";
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

/** The bounds that writers of deliveries must respect. */
export type DeliveryBounds = {
  /** Every play of a delivery is within this many offsets of the first. */
  spanOffsets: number;
  /** How long after its creation deliveries may refer to an audience, in milliseconds. */
  audienceLivesMs: number;
};
