import type { LogEvent } from "../contract/messages/log-event.ts";
import { createHistogram, type Histogram, spanBuckets } from "../lib/observing/histogram.ts";
import { timeOfId } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";

/** What a node counts of its connections, since its start. */
export type GatewayFigures = {
  /** Messages and system messages that were handed to connections: one for each connection. */
  deliveries: { message: number; system_message: number };
  /**
   * Milliseconds from the commit of an event to its delivery, one for each delivery, by the way it came: `own` commits are
   * measured with the steady clock of this node; those that came by the `bus` with the clocks of both nodes, as far as these agree;
   * those read from the `store` from the time in their id, just before their commit.
   */
  latency: Record<"own" | "bus" | "store", Histogram>;
  /** Reads of the store that brought what the bus had not. */
  repairs: number;
  /** How often the log of an organization turned out not to be the one that was played. */
  breaks: number;
  /** Events that nobody heard, since what the store holds of them cannot be played. */
  passedOver: number;
  /** Connections that ended while bytes waited for them. */
  slowConsumersCut: number;
};

/** What a node holds for its connections now, by kind. */
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
  | "waiting_bytes",
  number
>;

type Dependencies = { nodeId: string; clock: Clock; steadyClock: Clock };

/** All zero, and what counts them. */
export function createGatewayFigures({ nodeId, clock, steadyClock }: Dependencies) {
  const figures: GatewayFigures = {
    deliveries: { message: 0, system_message: 0 },
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
      if (kind === "message") deliveries.message += connections;
      else deliveries.system_message += connections;
      if (committed === undefined) latency.store.observe(clock.now() - timeOfId(id), connections);
      else if (committed.node === nodeId) latency.own.observe(steadyClock.now() - committed.steadyMs, connections);
      else latency.bus.observe(clock.now() - committed.wallMs, connections);
    },
    onRepair(): void {
      figures.repairs++;
    },
    noteBreak(): void {
      figures.breaks++;
    },
    notePassedOver(): void {
      figures.passedOver++;
    },
    onCut(): void {
      figures.slowConsumersCut++;
    },
  };
}
