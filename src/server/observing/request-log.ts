import type { Logger } from "pino";
import type { Call } from "../../http/calls.ts";
import type { LineSummary } from "../../lib/observing/logger.ts";

const slowMs = 1_000;
/** Routes that monitoring programs call all the time. */
const probes = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Creates a log of answered calls: the route, but not the path, which may contain names; the code of an error and ids, but
 * nothing of a body or a credential. Routine calls, stored sends and successful probes, are logged at `debug`.
 */
export function createRequestLog(log: Logger): (call: Call) => void {
  return (call) => {
    const level = levelOf(call);
    if (!log.isLevelEnabled(level)) return;
    const { route, status, code, tookMs, requestId, keyId, org } = call;
    log[level](
      {
        method: route.method,
        route: route.path,
        status,
        code,
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
