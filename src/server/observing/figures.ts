import type { Bus } from "../../bus/bus.ts";
import type { NodeFigures, NodeRefusals } from "../../contract/nodes.ts";
import type { GatewayFigures } from "../../gateway/figures.ts";
import { createRecent } from "../../lib/observing/histogram.ts";
import type { FileFigures } from "../../services/files/file-figures.ts";
import type { OutboxFigures } from "../../services/outbox/outbox.ts";
import type { ScheduleFigures } from "../../services/schedule/due-sends.ts";
import type { PostFigures } from "../../services/webhooks/posting.ts";
import type { LogFigures } from "../secrets.ts";
import type { Observer } from "./observer.ts";

/** How many beats, 2 s apart, count as recent. */
const recentBeats = 15;

/** Counters of a node since its start, as plain numbers; times in milliseconds. */
export type Figures = Observer["figures"] & {
  gateway: GatewayFigures;
  scheduled: ScheduleFigures;
  webhooks: PostFigures;
  /** `undefined` without an outbox. */
  outbox: OutboxFigures | undefined;
  files: FileFigures;
  log: LogFigures;
  tokens: { refused: number };
};

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

/** Counts the keys and tokens that a node has refused, and the calls over a limit. */
export function countRefusals({ calls, tokens }: Pick<Figures, "calls" | "tokens">): NodeRefusals {
  const ofKeys = [...calls.values()].filter(({ path }) => path.startsWith("/admin/") || path === "/mcp");
  const countOf = (status: number) => ofKeys.reduce((sum, { statuses }) => sum + (statuses.get(status) ?? 0), 0);
  return { keys: countOf(401), tokens: tokens.refused, rate_limited: countOf(429) };
}

function shown(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 100) / 100;
}
