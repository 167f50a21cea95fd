/**
 * The right to remove, held by one node at a time until it has not asked for `leaseMs`. Times in milliseconds, by the
 * database's clock.
 */
export type Lease = { holder: string; leaseMs: number; now: number };

/** What is to be removed. Times in milliseconds since the Unix epoch; an absent time keeps everything. */
export type RetentionOrder = Lease & {
  /** The maximum number of rows that one step changes. */
  limit: number;
  /** Removes events created before this time. */
  messagesBefore: number | undefined;
  /** Forgets the retry ids of events created before this time. */
  idsBefore: number | undefined;
  /** Removes revocations of single tokens made before this time, by when the tokens have expired. */
  revocationsBefore: number | undefined;
  /** Removes audit entries created before this time. */
  auditBefore: number | undefined;
  /**
   * Removes the contents of conversations deleted before this time. The contents of deleted organizations are always
   * removed.
   */
  deletedBefore: number;
};

/** Removes expired data in small steps. */
export type RetentionWrites = {
  /**
   * Runs one step in one commit. Returns the number of rows changed, 0 when nothing is left, or `undefined` if another
   * node holds the lease.
   */
  step(order: RetentionOrder): Promise<number | undefined>;
  /**
   * Counts at most `limit` stored events that their organization has not counted, in one commit. Returns their number,
   * 0 if there are none, or `undefined` if another node holds the lease.
   */
  count(order: Lease & { limit: number }): Promise<number | undefined>;
  /** The time of the database's clock, which all nodes share, in milliseconds since the Unix epoch. */
  now(): Promise<number>;
};
