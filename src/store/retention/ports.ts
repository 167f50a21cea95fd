/**
 * The right to remove, held by one node at a time until it has not asked for `leaseMs`. Times in milliseconds, by the
 * database's clock.
 */
export type Lease = { holder: string; leaseMs: number; now: number };

/** What has expired. Times in milliseconds since the Unix epoch; an absent time keeps everything. */
export type Expiry = {
  /** Removes events created before this time. */
  messagesBefore: number | undefined;
  /** Removes reads announced before this time. */
  readsBefore: number | undefined;
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

/** What is to be removed, and the maximum number of rows that one step changes. */
export type RetentionOrder = Lease & Expiry & { limit: number };

/**
 * How long ago the oldest data that is still stored had to be removed, by kind, in milliseconds; 0 if none is due.
 * `deleted`: the contents of deleted organizations and conversations; `ids`: retry ids.
 */
export type Overdue = { deleted: number; messages: number; ids: number; audit: number };

/** Reads what retention has to do. */
export type RetentionReads = {
  /** `now` is the time of the database's clock. */
  overdue(expiry: Expiry & { now: number }): Promise<Overdue>;
  /** The time of the database's clock, which all nodes share, in milliseconds since the Unix epoch. */
  now(): Promise<number>;
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
};
