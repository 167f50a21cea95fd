import { type EventName, eventNameOf } from "../contract/connections/event-names.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import { createHistogram, spanBuckets } from "../lib/observing/histogram.ts";
import { timeOfId } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";

type Dependencies = { nodeId: string; clock: Clock; steadyClock: Clock };

/** Creates figures, all zero, and the function that counts deliveries. */
export function createGatewayFigures({ nodeId, clock, steadyClock }: Dependencies) {
  const deliveries: Record<EventName, number> = {
    message: 0,
    system_message: 0,
    message_edit: 0,
    message_delete: 0,
    system_message_delete: 0,
    message_read: 0,
    system_message_read: 0,
    message_reactions_update: 0,
    message_append: 0,
  };
  const latency = {
    own: createHistogram(spanBuckets),
    bus: createHistogram(spanBuckets),
    store: createHistogram(spanBuckets),
  };
  const figures = {
    /** Events handed to connections, counted once per connection. */
    deliveries,
    /**
     * Milliseconds from the commit of a send to its delivery, once per delivery, by how the event arrived: `own`
     * commits are measured by this node's steady clock; events from the `bus` by the wall clocks of both nodes, as exact
     * as these agree; events from the `store` from the time in their id, which is just before the commit.
     */
    latency,
    /** Reads of the store that brought events the bus had not. */
    repairs: 0,
    /** How often an organization's log turned out not to be the one that was played. */
    breaks: 0,
    /** Stored events that could not be played and were skipped. */
    passedOver: 0,
    /** Connections that ended with bytes still waiting. */
    slowConsumersCut: 0,
  };

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

/** Counters of a node's connections since its start. */
export type GatewayFigures = ReturnType<typeof createGatewayFigures>["figures"];
