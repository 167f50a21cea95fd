import type { Ending } from "../connection/connection.ts";
import type { Backoff } from "./backoff.ts";

/** The close code of too many connections or requests, after which a client may come back. */
export const tooMany = 4429;

/** The longest wait that a reason may ask for: nobody means a longer one. */
const mostAskedMs = 3_600_000;

/** `tooManyMs`: the least wait after a 4429 that names no time. `random`: the source of chance, 0 ≤ n < 1. */
export type ReturnOptions = { tooManyMs: number; random?: () => number };

/** The milliseconds that the reason of a close asks a client to stay away (`retry in N s`), an hour at most; `undefined` where it names no time. */
export function readRetryIn(reason: string): number | undefined {
  const [, seconds] = /\bretry in (\d+) s\b/.exec(reason) ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, mostAskedMs);
}

/**
 * How long to stay away after this ending, in milliseconds. After 4429 with `retry in N s` it is between N and 2 N seconds, so that
 * a crowd that was told the same does not come back at once; after 4429 without a time, `tooManyMs` and the usual backoff; else the backoff.
 */
export function returnWaitMs(
  { code, reason }: Ending,
  backoff: Backoff,
  { tooManyMs, random = Math.random }: ReturnOptions,
): number {
  if (code !== tooMany) return backoff.next();
  const askedMs = readRetryIn(reason);
  if (askedMs === undefined) return tooManyMs + backoff.next();
  return askedMs === 0 ? backoff.next() : askedMs * (1 + random());
}
