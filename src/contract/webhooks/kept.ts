const day = 24 * 3600 * 1000;

/**
 * How long deliveries are kept, in milliseconds: waiting and failed ones long enough to redeliver them, others long enough to look them
 * up.
 */
export const keptMs = { delivered: 3 * day, cancelled: 3 * day, failed: 30 * day, waiting: 30 * day } as const;
