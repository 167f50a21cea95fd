import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import type { DeliveryLedger } from "./delivery-ledger.ts";

/** Wraps the play of an event; `play` returns how many connections received it. */
export type TracePlay = (event: LogEvent, play: () => number) => void;

type Dependencies = {
  ledger: DeliveryLedger;
  onDelivery(event: LogEvent, connections: number): void;
  tracePlay?: TracePlay | undefined;
  onError(error: unknown): void;
};

/**
 * Isolates delivery from its accounting: a failure of the ledger, counters or traces neither withholds an event nor
 * delivers it twice.
 */
export function createAccounting({ ledger, onDelivery, tracePlay, onError }: Dependencies) {
  const guard = createGuard(onError);
  const guardedLedger: DeliveryLedger = {
    played: (event, audience) => guard(() => ledger.played(event, audience)),
    playedTo: (event, uids, connections) => guard(() => ledger.playedTo(event, uids, connections)),
    given: (uid, events) => guard(() => ledger.given(uid, events)),
    renew: () => guard(ledger.renew),
    flush: ledger.flush,
  };

  /** Plays the event inside the trace, or without it if the trace fails first; exactly once in either case. */
  const traceOnce: TracePlay = (event, play) => {
    let isPlayed = false;
    const playOnce = () => {
      if (isPlayed) return 0;
      isPlayed = true;
      return play();
    };
    guard(() => tracePlay?.(event, playOnce));
    if (!isPlayed) playOnce();
  };

  return {
    guardedLedger,
    noteDelivery: (event: LogEvent, connections: number) => guard(() => onDelivery(event, connections)),
    traceOnce: tracePlay && traceOnce,
  };
}
