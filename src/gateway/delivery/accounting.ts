import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import type { DeliveryLedger } from "./delivery-ledger.ts";

type Dependencies = {
  ledger: DeliveryLedger;
  onDelivery(event: LogEvent, connections: number): void;
  onError(error: unknown): void;
};

/** Isolates delivery from its accounting: a failure of the ledger or counters neither withholds an event nor delivers it twice. */
export function createAccounting({ ledger, onDelivery, onError }: Dependencies) {
  const guard = createGuard(onError);
  const guardedLedger: DeliveryLedger = {
    played: (event, audience) => guard(() => ledger.played(event, audience)),
    playedTo: (...played) => guard(() => ledger.playedTo(...played)),
    given: (uid, events) => guard(() => ledger.given(uid, events)),
    renew: () => guard(ledger.renew),
    flush: ledger.flush,
  };

  return {
    guardedLedger,
    noteDelivery: (event: LogEvent, connections: number) => guard(() => onDelivery(event, connections)),
  };
}
