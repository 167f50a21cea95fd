/** Who removes: one node at a time, until it has not asked for `leaseMs`. Times in milliseconds, by the database's clock. */
export type Lease = { holder: string; leaseMs: number; now: number };

/** What is kept no longer. Times in milliseconds; where one is absent, all is kept. */
export type RetentionOrder = Lease & {
  /** How many rows one step changes at most. */
  limit: number;
  /** Events made before. */
  messagesBefore: number | undefined;
  /** Events made before: their ids identify no retry any more. */
  idsBefore: number | undefined;
  /** Revocations of single tokens made before: no token that they name can be valid any more. */
  revocationsBefore: number | undefined;
  /** Entries of the audit log made before. */
  auditBefore: number | undefined;
  /** What conversations held that were deleted before. What organizations held goes whenever they were deleted. */
  deletedBefore: number;
};

/** Removes what is kept no longer, in small steps. */
export type RetentionWrites = {
  /** One step, in one commit. Gives how many rows it changed, 0 when nothing is left, `undefined` when another holder is at it. */
  step(order: RetentionOrder): Promise<number | undefined>;
  /**
   * Counts at most `limit` stored events that their organization has not counted, in one commit. Gives how many, 0 when there are
   * none, `undefined` when another holder is at it.
   */
  count(order: Lease & { limit: number }): Promise<number | undefined>;
  /** The time by the database's clock, which all nodes share, in milliseconds. */
  now(): Promise<number>;
};
