import { type EventName, eventNameOf } from "../contract/connections/event-names.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import { createHistogram, type Histogram, spanBuckets } from "../lib/observing/histogram.ts";
import { timeOfId } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";

/** Counters of a node's connections since its start. */
export type GatewayFigures = {
  /** Events handed to connections, counted once per connection. */
  deliveries: Record<EventName, number>;
  /**
   * Milliseconds from the commit of a send to its delivery, once per delivery, by how the event arrived: `own`
   * commits are measured by this node's steady clock; events from the `bus` by the wall clocks of both nodes, as exact
   * as these agree; events from the `store` from the time in their id, which is just before the commit.
   */
  latency: Record<"own" | "bus" | "store", Histogram>;
  /** Reads of the store that brought events the bus had not. */
  repairs: number;
  /** How often an organization's log turned out not to be the one that was played. */
  breaks: number;
  /** Stored events that could not be played and were skipped. */
  passedOver: number;
  /** Connections that ended with bytes still waiting. */
  slowConsumersCut: number;
};

/** What a node currently holds for its connections, by kind. */
export type HeldFigures = Record<
  | "connections"
  | "address_places"
  | "user_places"
  | "organization_places"
  | "joining"
  | "joined"
  | "audiences"
  | "stream_topics"
  | "timers"
  | "sequencers"
  | "connects"
  | "reads"
  | "watches"
  | "subscriptions"
  | "waiting_bytes",
  number
>;

type Dependencies = { nodeId: string; clock: Clock; steadyClock: Clock };

/** Creates figures, all zero, and the function that counts deliveries. */
export function createGatewayFigures({ nodeId, clock, steadyClock }: Dependencies) {
  const figures: GatewayFigures = {
    deliveries: { message: 0, system_message: 0, message_edit: 0, message_delete: 0, message_read: 0 },
    latency: {
      own: createHistogram(spanBuckets),
      bus: createHistogram(spanBuckets),
      store: createHistogram(spanBuckets),
    },
    repairs: 0,
    breaks: 0,
    passedOver: 0,
    slowConsumersCut: 0,
  };
  const { deliveries, latency } = figures;

  return {
    figures,
    onDelivery({ kind, id, committed }: LogEvent, connections: number): void {
      const name = eventNameOf(kind);
      if (name !== undefined) deliveries[name] += connections;
      if (kind !== "message" && kind !== "system") return; // the latency is that of sends
      if (committed === undefined) latency.store.observe(clock.now() - timeOfId(id), connections);
      else if (committed.node === nodeId) latency.own.observe(steadyClock.now() - committed.steadyMs, connections);
      else latency.bus.observe(clock.now() - committed.wallMs, connections);
    },
  };
}
