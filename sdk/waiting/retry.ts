import { HeraldApiError } from "../errors.ts";
import { createBackoff } from "./backoff.ts";
import { sleep } from "./timers.ts";

/** A failure, and how long the server asked to wait (`Retry-After`), in milliseconds. */
export type Failure = { error: HeraldApiError; retryAfterMs: number | undefined };

/** How often and how long to wait. `isSafe`: doing it twice is the same as doing it once. */
export type RetryOptions = { retries: number; isSafe: boolean; minMs: number; maxMs: number; maxRetryAfterMs: number };

const unknownOutcomes = new Set([0, 500, 502, 503, 504, 507]);

/** Whether nobody knows what a call with this status did. Nothing was done where it is 429; after these only a safe call is repeated. */
export function isUnknownOutcome(status: number): boolean {
  return unknownOutcomes.has(status);
}

/**
 * Runs `attempt` until it succeeds, its failure is final, or the retries are used up; then throws its last error.
 * `Retry-After` is honoured; when it asks for more than `maxRetryAfterMs`, the failure is final.
 */
export async function withRetries<Value>(
  attempt: () => Promise<Value | Failure>,
  options: RetryOptions,
): Promise<Value> {
  const backoff = createBackoff({ minMs: options.minMs, maxMs: options.maxMs });
  for (let left = options.retries; ; left -= 1) {
    const outcome = await attempt();
    if (!isFailure(outcome)) return outcome;
    const { error, retryAfterMs } = outcome;
    const mayRetry = error.status === 429 || (options.isSafe && isUnknownOutcome(error.status));
    if (!mayRetry || left <= 0 || (retryAfterMs ?? 0) > options.maxRetryAfterMs) throw error;
    await sleep((retryAfterMs ?? 0) + backoff.next());
  }
}

function isFailure(outcome: unknown): outcome is Failure {
  return (
    typeof outcome === "object" && outcome !== null && "error" in outcome && outcome.error instanceof HeraldApiError
  );
}

/** The milliseconds of a `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(header: string | null, nowMs: number = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
