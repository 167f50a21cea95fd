import type { Logger } from "pino";
import type { Call } from "../../http/calls.ts";
import type { LineSummary } from "../../lib/observing/logger.ts";

const slowMs = 1_000;
/** What is asked all the time, by programs that keep count of it themselves. */
const probes = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Writes a line for each answered call: its route and never its address, which may hold names; ids, and nothing of a body or of
 * a credential. What went well as a thousand times before is told at `debug`: sends that are stored, and probes.
 */
export function createRequestLog(log: Logger): (call: Call) => void {
  return (call) => {
    const level = levelOf(call);
    if (!log.isLevelEnabled(level)) return;
    const { route, status, tookMs, requestId, keyId, org } = call;
    log[level](
      {
        method: route.method,
        route: route.path,
        status,
        duration_ms: Math.round(tookMs * 100) / 100,
        request_id: requestId,
        key_id: keyId,
        org,
      },
      "request",
    );
  };
}

/** How the line of a call reads on a terminal. */
export const requestSummary: LineSummary = {
  facts: ["method", "route", "status", "duration_ms"],
  textOf: ({ method, route, status, duration_ms: took }) =>
    route === undefined ? undefined : `${method} ${route} ${status} in ${took} ms`,
};

function levelOf({ route, status, tookMs }: Call): "debug" | "info" | "warn" {
  if (status >= 500) return "warn";
  const isRoutine = status === 201 ? route.path.startsWith("/admin/message") : status < 300 && probes.has(route.path);
  return isRoutine && tookMs < slowMs ? "debug" : "info";
}
