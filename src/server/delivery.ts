import type { Logger } from "pino";
import { createDeliveryLedger, type DeliveryLedger } from "../gateway/delivery/delivery-ledger.ts";
import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Deliveries } from "../store/delivery/ports.ts";

const storeEveryMs = 250;

type Dependencies = { deliveries: Deliveries; clock: Clock; log: Logger; outages: OutageEvents };

/** Starts the ledger of this node's deliveries, and stores its content several times a second. */
export function startDeliveryLedger({ deliveries, clock, log, outages }: Dependencies): {
  ledger: DeliveryLedger;
  /** Stores the rest. Call it once nothing is played any more. */
  stop(): Promise<void>;
} {
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
  const store = tellOutages(async () => {
    await ledger.flush();
    tellLost();
  }, outages);
  const timer = setInterval(() => void store(), storeEveryMs);
  return {
    ledger,
    async stop() {
      clearInterval(timer);
      await store();
      await store(); // the first may have begun before the last event was played
      tellLost();
    },
  };
}
