import type { CommitMark } from "../../contract/log/log-event.ts";
import type { Guard } from "../../lib/observing/guard.ts";
import type { CommitObserver } from "../../store/log/send-log.ts";
import type { Context } from "../context.ts";
import type { createCounting } from "./figures.ts";
import type { Tracing } from "./tracing.ts";
import type { WriteWatch } from "./write-watch.ts";

const stopMayTakeMs = 2_000;

/**
 * Creates the observer of commits: counts sends, tells of those that fail and, with tracing, continues their traces. An error
 * here fails no send.
 */
export function observeCommits(
  counting: Pick<ReturnType<typeof createCounting>, "onCommit">,
  tracing: Pick<Tracing, "onAppend" | "onCommit"> | undefined,
  guard: Guard,
  { noteWrite, suspect }: Pick<WriteWatch, "noteWrite" | "suspect">,
): CommitObserver {
  return {
    onFailure: (error) => guard(() => suspect(error)),
    onAppend: tracing && ((send) => guard(() => tracing.onAppend(send))),
    onCommit(sends, tookMs) {
      let mark: CommitMark | undefined;
      guard(() => {
        noteWrite();
        mark = counting.onCommit(sends.length, tookMs);
      });
      const counted = mark;
      if (tracing === undefined || counted === undefined) return () => counted;
      return (send) => {
        let traced = counted;
        guard(() => {
          traced = tracing.onCommit(send, sends.length, counted);
        });
        return traced;
      };
    },
  };
}

/** Opens the configured tracing. Without a collector, OpenTelemetry is not even loaded. */
export async function openTracing(context: Context): Promise<Tracing | undefined> {
  const { config, nodeId, redact, log, onError, onStop } = context;
  const { HERALD_OTLP_URL: url, HERALD_TRACE_RATIO: ratio, HERALD_NODE_NAME: name } = config;
  if (url === undefined) return undefined;
  const { createTracing } = await import("./tracing.ts");
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
