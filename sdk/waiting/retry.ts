import { HeraldApiError } from "../errors.ts";
import { createBackoff } from "./backoff.ts";
import { sleep } from "./timers.ts";

/** A failure, the wait that the server asked for (`Retry-After`), in milliseconds, and whether to try again is in vain. */
export type Failure = { error: HeraldApiError; retryAfterMs?: number | undefined; isFinal?: boolean | undefined };

/**
 * How often to retry and how long to wait. `isSafe` says that the call is idempotent. `leftMs` is the time that is left for the
 * call: no retry begins after it.
 */
export type RetryOptions = {
  retries: number;
  isSafe: boolean;
  minMs: number;
  maxMs: number;
  maxRetryAfterMs: number;
  leftMs: () => number;
  /** Ends the attempts: nothing begins after it. */
  signal?: AbortSignal | undefined;
};

const unknownOutcomes = new Set([0, 500, 502, 503, 504, 507]);

/** Whether the outcome of a call with this status is unknown, so that only an idempotent call may be retried. */
export function isUnknownOutcome(status: number): boolean {
  return unknownOutcomes.has(status);
}

/**
 * Runs `attempt` until it succeeds. Throws its last error once a failure is final or no retries are left. Honours `Retry-After`, but
 * treats the failure as final if it asks for more than `maxRetryAfterMs`. Throws the reason of `signal` once that aborts.
 */
export async function withRetries<Value>(
  attempt: () => Promise<Value | Failure>,
  options: RetryOptions,
): Promise<Value> {
  const backoff = createBackoff({ minMs: options.minMs, maxMs: options.maxMs, least: 0.5 });
  for (let left = options.retries; ; left -= 1) {
    options.signal?.throwIfAborted();
    const outcome = await attempt();
    if (!isFailure(outcome)) return outcome;
    options.signal?.throwIfAborted();
    const { error, retryAfterMs, isFinal = false } = outcome;
    const mayRetry = !isFinal && (error.status === 429 || (options.isSafe && isUnknownOutcome(error.status)));
    if (!mayRetry || left <= 0 || (retryAfterMs ?? 0) > options.maxRetryAfterMs) throw error;
    const waitMs = (retryAfterMs ?? 0) + backoff.next();
    if (waitMs >= options.leftMs()) throw error;
    await sleep(waitMs, options.signal);
  }
}

function isFailure(outcome: unknown): outcome is Failure {
  return (
    typeof outcome === "object" && outcome !== null && "error" in outcome && outcome.error instanceof HeraldApiError
  );
}

/** The wait in milliseconds that a `Retry-After` header asks for, as seconds or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(header: string | null, nowMs: number = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
