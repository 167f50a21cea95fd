import { unavailable } from "../../contract/errors/errors.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { DeliveryWrites, NewReceipt } from "../../store/delivery/ports.ts";

/** Takes what clients say to have received. */
export type Receipts = {
  /**
   * Resolves when the receipts are stored, with those of others in one commit. Ids of what was not sent to the user are passed
   * over; the same twice is the same. Rejects with `storage_full` or `unavailable`.
   */
  acknowledge(user: { org: string; uid: string }, ids: string[]): Promise<void>;
};

const maxBatch = 1_000;
const maxWaiting = 20_000;

/** Receipts over the store. */
export function createReceipts({ deliveries, clock }: { deliveries: DeliveryWrites; clock: Clock }): Receipts {
  const batcher = createBatcher<NewReceipt, void>({
    async flush(receipts) {
      await deliveries.acknowledge(receipts);
      return receipts.map(() => undefined);
    },
    maxBatch,
    maxWaiting,
    keyOf: ({ org }) => org,
    whenFull: () => unavailable({ detail: "too many acknowledgements are waiting for the database; send them again" }),
  });
  // Those that wait for the store: no more than the batcher takes. Who says the same meanwhile waits with the first.
  const waiting = new Map<string, Promise<void>>();

  function store(receipt: NewReceipt): Promise<void> {
    const key = joinIds(receipt.org, receipt.uid, receipt.id);
    const known = waiting.get(key);
    if (known !== undefined) return known;
    const storing = batcher.add(receipt).finally(() => waiting.delete(key));
    waiting.set(key, storing);
    return storing;
  }

  return {
    async acknowledge({ org, uid }, ids) {
      const at = clock.now();
      await Promise.all([...new Set(ids)].map((id) => store({ org, uid, id, at })));
    },
  };
}
