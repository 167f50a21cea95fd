import { HeraldConnectionError } from "../errors.ts";

/** The longest timer that is possible. A longer one would fire immediately. */
const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, at most 24 days, or immediately when `signal` aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(ms, longestTimerMs));
    signal?.addEventListener("abort", finish);
  });
}

/** Settles like `promise`, or rejects with a `HeraldConnectionError` that names what is missing after `ms`. */
export async function withTimeout<Value>(promise: Promise<Value>, ms: number, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HeraldConnectionError(`No ${what} within ${ms / 1000} s.`)), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * A signal that aborts like `signal`, or with a `TimeoutError` after `ms`. `end` frees it. (`AbortSignal.any` is missing in Node
 * 20.0 and in browsers of 2023.)
 */
export function limitTime(ms: number, signal?: AbortSignal): { signal: AbortSignal; end(): void } {
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  const timer = setTimeout(
    () => over.abort(new DOMException("timed out", "TimeoutError")),
    Math.min(ms, longestTimerMs),
  );
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  return {
    signal: over.signal,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    },
  };
}
