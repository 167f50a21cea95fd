import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import type { DeliveryLedger } from "./delivery-ledger.ts";

/** Wraps the play of an event; `play` returns how many connections the event was handed to. */
export type TracePlay = (event: LogEvent, play: () => number) => void;

type Dependencies = {
  ledger: DeliveryLedger;
  onDelivery(event: LogEvent, connections: number): void;
  tracePlay?: TracePlay | undefined;
  onError(error: unknown): void;
};

/** Guards what is recorded about deliveries: a failure there neither withholds an event from anybody nor delivers it twice. */
export function createAccounting({ ledger, onDelivery, tracePlay, onError }: Dependencies) {
  const guard = createGuard(onError);
  const guarded: DeliveryLedger = {
    played: (event, audience) => guard(() => ledger.played(event, audience)),
    playedTo: (event, uids, connections) => guard(() => ledger.playedTo(event, uids, connections)),
    given: (uid, events) => guard(() => ledger.given(uid, events)),
    renew: () => guard(ledger.renew),
    flush: ledger.flush,
  };

  /** Plays the event within the trace, or without it when the trace fails before that: once in any case. */
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
