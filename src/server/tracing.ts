import type { Context } from "./context.ts";
import type { Tracing } from "./observing/tracing.ts";

const stopMayTakeMs = 2_000;

/** Opens the configured tracing. Without a collector, OpenTelemetry is not even loaded. */
export async function openTracing(context: Context): Promise<Tracing | undefined> {
  const { config, nodeId, redact, log, onError, onStop } = context;
  const { HERALD_OTLP_URL: url, HERALD_TRACE_RATIO: ratio, HERALD_NODE_NAME: name } = config;
  if (url === undefined) return undefined;
  const { createTracing } = await import("./observing/tracing.ts");
  const tracing = createTracing({
    url,
    ratio,
    node: { id: nodeId, name },
    redact,
    onError: (error) => log.warn({ err: error }, "cannot send traces to HERALD_OTLP_URL; some are lost"),
    onRecovery: () => log.info("sending traces again"),
  });
  onStop(() => tracing.stop().catch(onError), stopMayTakeMs);
  return tracing;
}
