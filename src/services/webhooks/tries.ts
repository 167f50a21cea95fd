const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long after the try before it each try begins; the first begins at once. */
const pausesMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
const jitter = 0.1;

/** What the next try depends on besides the schedule. `retryAfterMs` is the receiver's `Retry-After`. */
type Circumstances = { random(): number; retryAfterMs?: number | undefined };

/**
 * When to try again after `tries` failed tries, the last of which ended at `now`; `undefined` if that was the last one. A longer
 * `Retry-After` is respected up to the next step of the schedule. Adds up to a tenth of jitter, so that what failed together is
 * not retried together.
 */
export function nextTryAt(tries: number, now: number, { random, retryAfterMs = 0 }: Circumstances): number | undefined {
  const step = pausesMs[tries - 1];
  if (step === undefined) return undefined;
  const pause = Math.max(step, Math.min(retryAfterMs, pausesMs[tries] ?? step));
  return now + Math.round(pause * (1 + jitter * random()));
}
