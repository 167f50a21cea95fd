/**
 * A call by which a participant has read a conversation: up to the newest of the messages `ids`, or without them up to
 * its end.
 */
export type ReadCall = { org: string; cid: string; uid: string; ids: readonly string[] | undefined };

/** A message of somebody else that a participant had not read. */
export type UnreadMessage = { offset: number; id: string; sender: string };

/**
 * What a call reads: the newest messages that were unread, oldest first; none if everything was read before. Or why the
 * call must be refused.
 */
export type ReadScope =
  | { outcome: "found"; unread: UnreadMessage[] }
  | {
      outcome: "refused";
      missing: "organization" | "conversation" | "participant" | "message";
      /** The id of the missing message. */
      message?: string;
    };

/** A read to be stored: who has read what, when (milliseconds since the Unix epoch), and by which API key. */
export type NewRead = {
  org: string;
  cid: string;
  uid: string;
  unread: UnreadMessage[];
  now: number;
  keyId: string | undefined;
};

/** Read marks: up to where each participant has read each conversation. */
export type ReadMarks = ReadMarkReads & ReadMarkWrites;

/** Reads what a call would read. */
export type ReadMarkReads = {
  /** Looks at no more than the last 250 events that the call reads, and returns 100 messages at most. */
  scopeOf(call: ReadCall): Promise<ReadScope>;
  /** Those of `uids` who take part in the conversation. */
  participantsAmong(org: string, cid: string, uids: readonly string[]): Promise<string[]>;
};

/**
 * What became of a read: the number of events it emitted; or nothing, because the user has `left` the conversation, or
 * because what was looked at is no longer in the log (`stale`), after a failover to a standby that lagged.
 */
export type ReadResult = number | "left" | "stale";

/** Moves read marks. */
export type ReadMarkWrites = {
  /**
   * Moves the marks forward to the newest message of each read in one commit, never back, and emits an event for each author of what
   * is newly read who still takes part. Returns one result per read, in order.
   */
  markAll(reads: NewRead[]): Promise<ReadResult[]>;
};

/** Reads the place of a user in a conversation. */
export type PlaceReads = {
  /**
   * The end of the log, whether there is such a conversation, and whether the user takes part in it. `undefined` if there is no such
   * organization.
   */
  place(
    org: string,
    cid: string,
    uid: string,
  ): Promise<{ head: number; isConversation: boolean; isParticipant: boolean } | undefined>;
};
