import type { DeliveryBounds } from "../../contract/log/deliveries.ts";

/**
 * How many offsets of the log one stored row of deliveries, or of receipts, covers. Readers look no further than this, so the
 * values may grow but must never shrink. Receipts arrive one at a time, so a short span already holds many.
 */
export const spans = { delivery: 1024, away: 1024, receipt: 64 } as const;

/** The bounds of stored deliveries. An audience can be removed once nothing may refer to it. */
export const deliveryBounds: DeliveryBounds = { spanOffsets: spans.delivery, audienceLivesMs: 6 * 3600 * 1000 };
