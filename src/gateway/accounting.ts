import type { LogEvent } from "../contract/log-event.ts";
import { createGuard } from "../lib/guard.ts";
import type { DeliveryLedger } from "../services/delivery-ledger.ts";

/** Put around the play of an event; `play` gives how many connections the event was handed to. */
export type TracePlay = (event: LogEvent, play: () => number) => void;

type Dependencies = {
  ledger: DeliveryLedger;
  onDelivery(event: LogEvent, connections: number): void;
  tracePlay?: TracePlay | undefined;
  onError(error: unknown): void;
};

/** What is written down of deliveries, so that nothing of it that fails keeps an event from anybody, or gives it to somebody twice. */
export function createAccounting({ ledger, onDelivery, tracePlay, onError }: Dependencies) {
  const guard = createGuard(onError);
  const guarded: DeliveryLedger = {
    played: (event, audience) => guard(() => ledger.played(event, audience)),
    playedTo: (event, uids, connections) => guard(() => ledger.playedTo(event, uids, connections)),
    given: (uid, events) => guard(() => ledger.given(uid, events)),
    renew: () => guard(ledger.renew),
    flush: ledger.flush,
  };

  /** The event is played within the trace, or without it where the trace did not get that far: once in any case. */
  const traced: TracePlay = (event, play) => {
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
    ledger: guarded,
    onDelivery: (event: LogEvent, connections: number) => guard(() => onDelivery(event, connections)),
    tracePlay: tracePlay && traced,
  };
}
