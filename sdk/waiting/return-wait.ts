import type { Ending } from "../connection/connection.ts";
import type { Backoff } from "./backoff.ts";

/** The close code for too many connections or requests, after which a client may reconnect. */
export const tooMany = 4429;

/** The longest wait that a close reason may ask for. Longer ones are assumed to be errors. */
const mostAskedMs = 3_600_000;

/** `tooManyMs` is the minimum wait after a 4429 without a time; `random` is the random source, 0 ≤ n < 1. */
export type ReturnOptions = { tooManyMs: number; random?: () => number };

/** The wait in milliseconds that a close reason asks for (`retry in N s`), at most an hour; `undefined` if it gives no time. */
export function readRetryIn(reason: string): number | undefined {
  const [, seconds] = /\bretry in (\d+) s\b/.exec(reason) ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, mostAskedMs);
}

/**
 * How long to wait before reconnecting, in milliseconds. After 4429 with `retry in N s`: between N and 2 N seconds, so that clients
 * that were told the same do not all reconnect at once. After 4429 without a time: `tooManyMs` plus the backoff. Otherwise: the backoff.
 */
export function returnWaitMs(
  { code, reason }: Ending,
  backoff: Backoff,
  { tooManyMs, random = Math.random }: ReturnOptions,
): number {
  if (code !== tooMany) return backoff.next();
  const askedMs = readRetryIn(reason);
  return askedMs === undefined ? tooManyMs + backoff.next() : askedMs * (1 + random()) || backoff.next();
}
