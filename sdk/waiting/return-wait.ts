import type { Ending } from "../connection/connection.ts";
import type { Backoff } from "./backoff.ts";

/** The close code for too many connections or requests, after which a client may reconnect. */
export const tooMany = 4429;

/** The close code of a token that is not valid, or no longer. The next connection gets a fresh one, so it may succeed. */
export const badToken = 4401;

/** The longest wait that a close reason may ask for. Longer ones are assumed to be errors. */
const mostAskedMs = 3_600_000;

/**
 * `tooManyMs` is the minimum wait after a 4429 without a time, `refusedTokenMs` that after the first of `refused` tokens in a row;
 * `random` is the random source, 0 ≤ n < 1.
 */
export type ReturnOptions = { tooManyMs: number; refusedTokenMs?: number; refused?: number; random?: () => number };

/** The wait in milliseconds that a close reason asks for (`retry in N s`), at most an hour; `undefined` if it gives no time. */
export function readRetryIn(reason: string): number | undefined {
  const [, seconds] = /\bretry in (\d+) s\b/.exec(reason) ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, mostAskedMs);
}

/**
 * How long to wait before reconnecting, in milliseconds. After 4429 with `retry in N s`: between N and 2 N seconds, so that clients
 * that were told the same do not all reconnect at once. After 4429 without a time: `tooManyMs` plus the backoff. After a token that
 * was refused, between `refusedTokenMs` and twice that, and twice as long each time. Otherwise: the backoff.
 */
export function returnWaitMs(
  { code, reason }: Ending,
  backoff: Backoff,
  { tooManyMs, refusedTokenMs = 0, refused = 0, random = Math.random }: ReturnOptions,
): number {
  if (code === badToken && refused > 0) return refusedTokenMs * 2 ** (refused - 1) * (1 + random());
  if (code !== tooMany) return backoff.next();
  const askedMs = readRetryIn(reason);
  return askedMs === undefined ? tooManyMs + backoff.next() : askedMs * (1 + random()) || backoff.next();
}
