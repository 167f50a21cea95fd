import type { Bus } from "../../bus/bus.ts";
import type { CommitMark } from "../../contract/log/log-event.ts";
import type { NodeFigures } from "../../contract/nodes.ts";
import type { GatewayFigures } from "../../gateway/figures.ts";
import type { Call, Route } from "../../http/calls.ts";
import { watchEventLoop } from "../../lib/event-loop/event-loop.ts";
import { createHistogram, createRecent, type Histogram, spanBuckets } from "../../lib/observing/histogram.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { FileFigures } from "../../services/files/file-figures.ts";
import type { OutboxFigures } from "../../services/outbox/outbox.ts";
import type { ScheduleFigures } from "../../services/schedule/due-sends.ts";
import type { PostFigures } from "../../services/webhooks/posting.ts";
import type { LogFigures } from "../secrets.ts";

/** How many beats, 2 s apart, count as recent. */
const recentBeats = 15;
const largestBatchDoublings = 9; // 512: more than a commit takes
const sendRoutes = { "/admin/message": "message", "/admin/message/system": "system_message" } as const;
const noSends = { stored: 0, replayed: 0, dry_run: 0, refused: 0, failed: 0 };

/** The outcome of a send, as counted. */
export type SendResult = keyof typeof noSends;

/** The counts of one route. */
export type RouteFigures = Route & { statuses: Map<number, number>; durations: Histogram };

/** Counters of a node since its start, as plain numbers; times in milliseconds. */
export type Figures = {
  gateway: GatewayFigures;
  sends: Record<(typeof sendRoutes)[keyof typeof sendRoutes], Record<SendResult, number>>;
  calls: Map<Route, RouteFigures>;
  /** The number of sends per commit, and the duration. */
  commits: { sizes: Histogram; durations: Histogram };
  eventLoopDelays: Histogram;
  scheduled: ScheduleFigures;
  webhooks: PostFigures;
  /** `undefined` without an outbox. */
  outbox: OutboxFigures | undefined;
  files: FileFigures;
  log: LogFigures;
};

type Dependencies = { nodeId: string; clock: Clock; steadyClock: Clock };

/** Creates the counters of a node, except those of the gateway. */
export function createCounting({ nodeId, clock, steadyClock }: Dependencies) {
  const commits = {
    sizes: createHistogram({ lowest: 1, doublings: largestBatchDoublings }),
    durations: createHistogram(spanBuckets),
  };
  const sends: Figures["sends"] = { message: { ...noSends }, system_message: { ...noSends } };
  const calls: Figures["calls"] = new Map();
  const eventLoopDelays = createHistogram(spanBuckets);

  return {
    figures: { sends, calls, commits, eventLoopDelays },
    /** Counts a commit of this many sends, and returns the mark of its events. */
    onCommit(count: number, tookMs: number): CommitMark {
      commits.sizes.observe(count);
      commits.durations.observe(tookMs);
      return { node: nodeId, steadyMs: steadyClock.now(), wallMs: clock.now() };
    },
    /** Counts an answered call. */
    onAnswer(call: Call): void {
      const { route, status, tookMs } = call;
      let figures = calls.get(route);
      if (figures === undefined) {
        figures = { ...route, statuses: new Map(), durations: createHistogram(spanBuckets) };
        calls.set(route, figures);
      }
      figures.statuses.set(status, (figures.statuses.get(status) ?? 0) + 1);
      figures.durations.observe(tookMs);
      const operation = sendRoutes[route.path as keyof typeof sendRoutes];
      if (operation !== undefined) sends[operation][resultOf(call)]++;
    },
    /** Starts watching the event loop; returns the function that stops it. */
    watchEventLoop: () => watchEventLoop(eventLoopDelays),
  };
}

function resultOf({ status, isReplay }: Call): SendResult {
  if (status === 201) return isReplay ? "replayed" : "stored";
  if (status < 300) return "dry_run";
  return status < 500 ? "refused" : "failed";
}

/** Creates the figures shown by `GET /admin/nodes`. Call the result once per beat, as beats delimit what is recent. */
export function createNodeFigures(
  { gateway, sends, eventLoopDelays }: Pick<Figures, "gateway" | "sends" | "eventLoopDelays">,
  bus: Pick<Bus, "state">,
) {
  const { own, bus: heard, store } = gateway.latency;
  const latency = createRecent([own, heard, store], recentBeats);
  const delay = createRecent([eventLoopDelays], recentBeats);

  return (): NodeFigures => {
    const { message, system_message: system } = sends;
    const figures: NodeFigures = {
      sends: message.stored + system.stored,
      send_errors: message.failed + system.failed,
      deliveries: Object.values(gateway.deliveries).reduce((sum, count) => sum + count, 0),
      slow_consumers_cut: gateway.slowConsumersCut,
      repairs: gateway.repairs,
      latency_ms: { p50: shown(latency.quantile(0.5)), p99: shown(latency.quantile(0.99)) },
      event_loop_delay_ms: { p50: shown(delay.quantile(0.5)) ?? 0, p99: shown(delay.quantile(0.99)) ?? 0 },
      bus: bus.state(),
    };
    latency.turn();
    delay.turn();
    return figures;
  };
}

function shown(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 100) / 100;
}
