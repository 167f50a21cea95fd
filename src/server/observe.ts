import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { CommitObserver } from "../store/send-log.ts";
import type { createCounting } from "./figures.ts";
import type { Tracing } from "./tracing.ts";

/** What looks on while sends are committed: it counts and, where there are traces, goes on with them. */
export function observeCommits(
  counting: Pick<ReturnType<typeof createCounting>, "onCommit">,
  tracing: Tracing | undefined,
): CommitObserver {
  return {
    onAppend: tracing?.onAppend,
    onCommit(sends, tookMs) {
      const mark = counting.onCommit(sends.length, tookMs);
      return tracing === undefined ? () => mark : (send) => tracing.onCommit(send, sends.length, mark);
    },
  };
}

/** The traces of the settings. Without a collector nothing of OpenTelemetry is even loaded. */
export async function openTracing(config: Config, nodeId: string, log: Logger): Promise<Tracing | undefined> {
  const { HERALD_OTLP_URL: url, HERALD_TRACE_RATIO: ratio, HERALD_NODE_NAME: name } = config;
  if (url === undefined) return undefined;
  const { createTracing } = await import("./tracing.ts");
  return createTracing({
    url,
    ratio,
    node: { id: nodeId, name },
    onError: (error) => log.warn({ err: error }, "traces cannot be sent to HERALD_OTLP_URL; some are lost"),
    onRecovery: () => log.info("traces are sent again"),
  });
}
