import type { Logger } from "pino";
import type { CommitMark } from "../../contract/log/log-event.ts";
import type { Call, Route } from "../../http/calls.ts";
import { watchEventLoop } from "../../lib/event-loop/event-loop.ts";
import type { Guard } from "../../lib/observing/guard.ts";
import { createHistogram, type Histogram, spanBuckets } from "../../lib/observing/histogram.ts";
import type { LineSummary } from "../../lib/observing/logger.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { CommitObserver } from "../../store/log/send-log.ts";
import type { Tracing } from "./tracing.ts";

const largestBatchDoublings = 9; // 512: more than a commit takes
const slowMs = 1_000;
const sendRoutes = { "/admin/message": "message", "/admin/message/system": "system_message" } as const;
const noSends = { stored: 0, replayed: 0, dry_run: 0, refused: 0, failed: 0 };
/** Routes that monitoring programs call all the time. */
const probes = new Set(["/healthz", "/readyz", "/metrics"]);

/** The outcome of a send, as counted. */
export type SendResult = keyof typeof noSends;

type Sends = Record<(typeof sendRoutes)[keyof typeof sendRoutes], Record<SendResult, number>>;

/** The counts of one route. */
export type RouteFigures = Route & { statuses: Map<number, number>; durations: Histogram };

/** Observes the calls and the commits of a node. */
export type Observer = ReturnType<typeof createObserver>;

type Dependencies = { nodeId: string; log: Logger; clock: Clock; steadyClock: Clock; guard: Guard };

type CommitParts = {
  tracing: Pick<Tracing, "onAppend" | "onCommit"> | undefined;
  /** Told of errors of commits. */
  suspect(error: unknown): void;
};

/** Creates the observer of a node. Its counters are plain numbers; times are in milliseconds. */
export function createObserver({ nodeId, log, clock, steadyClock, guard }: Dependencies) {
  /** The number of sends per commit, and the duration. */
  const commits = {
    sizes: createHistogram({ lowest: 1, doublings: largestBatchDoublings }),
    durations: createHistogram(spanBuckets),
  };
  const sends: Sends = { message: { ...noSends }, system_message: { ...noSends } };
  const calls = new Map<Route, RouteFigures>();
  const eventLoopDelays = createHistogram(spanBuckets);
  let answeredAt = Number.NEGATIVE_INFINITY;
  let committedAt = steadyClock.now();

  function countCall(call: Call): void {
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
  }

  /**
   * Logs the route, but not the path, which may contain names; the code of an error and ids, but nothing of a body or a
   * credential. Routine calls, stored sends and successful probes, are logged at `debug`.
   */
  function logCall(call: Call): void {
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
  }

  return {
    figures: { sends, calls, commits, eventLoopDelays },
    /** When a call was last answered, and when sends were last committed, by the steady clock. */
    lastAnswerAt: () => answeredAt,
    lastCommitAt: () => committedAt,
    /** Counts and logs an answered call. */
    onAnswer(call: Call): void {
      answeredAt = steadyClock.now();
      countCall(call);
      logCall(call);
    },
    /**
     * Creates the observer of commits: counts sends, tells of those that fail and, with tracing, continues their traces. An
     * error here fails no send.
     */
    observeCommits({ tracing, suspect }: CommitParts): CommitObserver {
      return {
        onFailure: (error) => guard(() => suspect(error)),
        onAppend: tracing && ((send) => guard(() => tracing.onAppend(send))),
        onCommit(committed, tookMs) {
          let mark: CommitMark | undefined;
          guard(() => {
            committedAt = steadyClock.now();
            commits.sizes.observe(committed.length);
            commits.durations.observe(tookMs);
            mark = { node: nodeId, steadyMs: committedAt, wallMs: clock.now() };
          });
          const counted = mark;
          if (tracing === undefined || counted === undefined) return () => counted;
          return (send) => {
            let traced = counted;
            guard(() => {
              traced = tracing.onCommit(send, committed.length, counted);
            });
            return traced;
          };
        },
      };
    },
    /** Starts watching the event loop; returns the function that stops it. */
    watchEventLoop: () => watchEventLoop(eventLoopDelays),
  };
}

/** How the line of a call reads on a terminal. */
export const requestSummary: LineSummary = {
  facts: ["method", "route", "status", "duration_ms"],
  textOf: ({ method, route, status, duration_ms: took }) =>
    route === undefined ? undefined : `${method} ${route} ${status} in ${took} ms`,
};

function resultOf({ status, isReplay }: Call): SendResult {
  if (status === 201) return isReplay ? "replayed" : "stored";
  if (status < 300) return "dry_run";
  return status < 500 ? "refused" : "failed";
}

function levelOf({ route, status, tookMs }: Call): "debug" | "info" | "warn" {
  if (status >= 500) return "warn";
  const isRoutine = status === 201 ? route.path.startsWith("/admin/message") : status < 300 && probes.has(route.path);
  return isRoutine && tookMs < slowMs ? "debug" : "info";
}
