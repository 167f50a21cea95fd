import { unavailable } from "../../contract/errors/errors.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { DeliveryWrites, NewReceipt } from "../../store/delivery/ports.ts";

/** Accepts clients' acknowledgements. */
export type Receipts = ReturnType<typeof createReceipts>;

const maxWaiting = 20_000;

/** Creates receipts on the store. */
export function createReceipts({ deliveries, clock }: { deliveries: DeliveryWrites; clock: Clock }) {
  const batcher = createBatcher<NewReceipt, void>({
    async flush(receipts) {
      await deliveries.acknowledge(receipts);
      return receipts.map(() => undefined);
    },
    maxBatch: rowsOfStatement,
    maxWaiting,
    keyOf: ({ org }) => org,
    whenFull: () => unavailable({ detail: "too many acknowledgements are waiting for the database; send them again" }),
  });
  // Receipts waiting for the store, at most as many as the batcher takes. A repeated one waits with the first.
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
    /**
     * Resolves once the receipts are stored, in one commit with others. Ids of messages not sent to the user are skipped;
     * repeated ids count once. Rejects with `storage_full` or `unavailable`.
     */
    async acknowledge({ org, uid }: { org: string; uid: string }, ids: string[]): Promise<void> {
      const at = clock.now();
      await Promise.all([...new Set(ids)].map((id) => store({ org, uid, id, at })));
    },
  };
}
