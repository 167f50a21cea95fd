import { createDeliveryLedger, type DeliveryLedger } from "../gateway/delivery/delivery-ledger.ts";
import type { Deliveries } from "../store/delivery/ports.ts";
import type { Context } from "./context.ts";

const storeEveryMs = 250;
const stopMayTakeMs = 1_000;

/** Starts the ledger of this node's deliveries, which is stored several times a second and, once nothing is played, at the stop. */
export function startDeliveryLedger(
  { clock, log, repeat }: Context,
  { deliveries }: { deliveries: Deliveries },
): DeliveryLedger {
  let lost = 0;
  function tellLost(): void {
    if (lost > 0) log.warn({ plays: lost }, "could not store some deliveries, so delivery reports are incomplete");
    lost = 0;
  }
  const ledger = createDeliveryLedger({
    deliveries,
    clock,
    onLost(plays) {
      lost += plays;
    },
  });
  async function flush(): Promise<void> {
    await ledger.flush();
    tellLost();
  }
  async function storeRest(store: () => Promise<void>): Promise<void> {
    await store();
    await store(); // the first may have begun before the last event was played
    tellLost();
  }
  repeat(flush, storeEveryMs, storeRest, stopMayTakeMs);
  return ledger;
}
